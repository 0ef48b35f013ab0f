"""Late changes derive a key again."""
