"""Bytes as they are read: pieces as a file, and the files within zip archives."""
