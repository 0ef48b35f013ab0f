"""What a run would change: staged, counted, and checked by the limits of its contract."""
