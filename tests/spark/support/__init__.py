"""Contracts, records, phases and histories that the tests share."""
