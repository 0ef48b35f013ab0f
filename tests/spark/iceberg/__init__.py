"""Branches and snapshots."""
