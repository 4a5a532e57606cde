"""What a run of checks leaves behind for other programs, each form made from the same events."""
