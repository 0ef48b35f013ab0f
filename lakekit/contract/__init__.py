"""The data contract of one table: its model, its checks, and the types it may name."""
