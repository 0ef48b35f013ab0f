"""What answers of an unknown API show: form, records, pages, columns, key; proposals, not choices.

Functions on answers, all but `proofs`, which asks the API for a second page.
"""
