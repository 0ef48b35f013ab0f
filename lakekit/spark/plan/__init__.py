"""What a run would change: staged, counted and held against the limits of its contract."""
