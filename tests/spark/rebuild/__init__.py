"""A table is derived again from its landed runs."""
