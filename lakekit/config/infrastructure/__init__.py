"""What an environment is built in and how it gets there: region, network, streams, delivery."""
