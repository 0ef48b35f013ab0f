"""A person's own tables on disk: a warehouse folder with its landing."""
