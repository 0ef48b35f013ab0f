"""The files of a project: sources, environments, and how they are found and loaded."""
