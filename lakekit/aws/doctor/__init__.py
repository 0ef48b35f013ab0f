"""What a person can know of an account before and after a deployment, without changing it."""
