"""Compaction, expiry, orphans."""
