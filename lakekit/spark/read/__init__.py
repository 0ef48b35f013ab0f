"""From landed objects to typed records."""
