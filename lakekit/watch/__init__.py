"""What an environment looks like between its runs: what is late, what waits, what rests."""
