"""JSON as text: its lines and records, with every byte as it was received."""
