"""The step functions, one handler per step: parse, call, return."""
