"""Tables read by DuckDB, from their own metadata: no Spark, no catalog of DuckDB's, no writing."""
