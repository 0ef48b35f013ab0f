"""What travels between the states: events, and the input and result model of each step."""
