"""A broker that runs. Nothing stands here yet; it will call `spec/` for every decision."""
