"""Unchanged lines are not parsed, unchanged rows not compared."""
