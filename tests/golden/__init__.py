"""What each release wrote, and by which rules it read: one folder per release, kept for ever.

`{name}.json` is a document, `{name}.schema.json` the JSON schema of its reader.
"""
