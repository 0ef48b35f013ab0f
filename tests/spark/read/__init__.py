"""Landed lines become rows."""
