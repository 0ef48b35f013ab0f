"""A person's own tables on disk: a warehouse folder and the landing beside it."""
