"""Records against current rows: order, lateness, scopes, metrics."""
