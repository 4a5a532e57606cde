"""What holds without bounds: contracts now, inductive invariants later."""
