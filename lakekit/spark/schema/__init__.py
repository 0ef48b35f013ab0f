"""The schema of a table: created and evolved to its contract, described, conformed to."""
