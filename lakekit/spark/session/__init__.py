"""Spark sessions: settings, jars, tuning for small runs, and frames staged on disk."""
