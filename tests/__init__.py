"""The project's own tests; `tests/conformance` will be the suite for other implementations."""
