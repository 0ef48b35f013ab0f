"""What an answer holds: unpacked, decoded, cut into records with the text they came with."""
