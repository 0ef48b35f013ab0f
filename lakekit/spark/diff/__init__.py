"""Compare records with the current rows of their keys, order them, and count."""
