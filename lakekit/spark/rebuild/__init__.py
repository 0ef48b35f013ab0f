"""Derive a table again from its landed runs, and replace what differs."""
