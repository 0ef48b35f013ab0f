"""The workloads, the peers, one command: how fast a merge is, and whether it is right."""
