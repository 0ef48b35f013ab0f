"""A run as a person watches it: its states, how far it is, what came of it."""
