"""What an environment looks like between its runs: what is late, waits, rests, is shared."""
