"""Sources and contracts of a deployment, read where they are stored."""
