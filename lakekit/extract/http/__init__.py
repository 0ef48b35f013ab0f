"""One request to a source: signed in, within its bounds, and what its answer says of waiting."""
