"""Demos of further examples, in addition to `make demo` and `make demo-changes`."""
