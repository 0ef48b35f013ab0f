"""Previews of a merge."""
