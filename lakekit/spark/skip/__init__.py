"""Skip what has not changed: lines that are not parsed, rows that are not compared."""
