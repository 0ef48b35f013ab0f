"""Which runs a table was merged from, in their order, so that it can be rebuilt."""
