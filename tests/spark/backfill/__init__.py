"""Columns that are added to a table."""
