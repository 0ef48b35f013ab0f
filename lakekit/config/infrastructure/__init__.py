"""What an environment is built in, how it gets there, who reads it: network, delivery, and so on."""
