"""The commands of a project: made, checked, run here, synthesised for AWS."""
