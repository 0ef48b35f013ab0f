"""The Spark jobs, one script per step: parse, session, call, record."""
