"""Statements as text, built by pure functions; nothing here runs anything."""
