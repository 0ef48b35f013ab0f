"""Write, audit, publish: a branch, its checks, and the fast-forward of main."""
