"""The command line `lakekit`."""
