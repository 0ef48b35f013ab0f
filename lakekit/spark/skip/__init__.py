"""Skip what has not changed: lines that a current version shows are neither parsed nor compared."""
