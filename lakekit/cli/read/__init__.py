"""The commands that read tables: in a local warehouse, in the sandbox, in an environment on AWS."""
