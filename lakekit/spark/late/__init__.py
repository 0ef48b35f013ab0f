"""Late changes: the history of a key is derived again from all its change events."""
