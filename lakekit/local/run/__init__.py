"""A run of `load_source` in this process: its steps over a folder instead of AWS."""
