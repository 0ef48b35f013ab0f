"""Spark's session and its settings."""
