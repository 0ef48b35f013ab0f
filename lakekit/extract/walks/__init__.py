"""Extractions of more than one walk through pages: by windows, by parents, of an export's files."""
