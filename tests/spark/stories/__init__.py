"""Whole histories: published bugs and random ones."""
