"""The command that writes the page of a place."""
