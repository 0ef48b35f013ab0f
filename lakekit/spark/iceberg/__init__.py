"""Iceberg tables as such: metadata, branches, the baseline of a run, published runs."""
