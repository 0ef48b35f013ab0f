"""Write, audit, publish: branches, guards, concurrent runs."""
