"""Engines: ways to explore what a machine can do; `reference` is the oracle of all others."""
