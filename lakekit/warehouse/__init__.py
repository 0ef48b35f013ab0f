"""A warehouse in Python: the tables of one place, read as the commands read them."""
