"""
The protocols in motion: one module per protocol, each a machine of guarded actions with its properties.

`topic` holds what is stored and `election` who leads; the others build on them and can be put together in any
combination. What a decision looks like as a value stands in `spec/`; here it happens, step by step, with a
crash possible between any two.
"""
