"""Landed objects: written with a manifest, validated, and converted from CSV."""
