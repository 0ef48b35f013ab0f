"""What roles may do, what they do, and what would be missed."""
