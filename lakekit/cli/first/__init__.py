"""The first minutes with an API of one's own: `lakekit add-source` and `lakekit try`."""
