"""Lakekit on one machine: the command line and the local warehouse."""
