"""Staging, and the runs that are refused."""
