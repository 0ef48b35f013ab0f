"""What an environment is built in, how it gets there, and who reads it: network to governance."""
