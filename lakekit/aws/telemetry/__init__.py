"""What functions and jobs say of their work: metrics, and lines of the log."""
