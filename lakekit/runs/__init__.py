"""What the light steps of `load_source` do, over ports: no AWS, no Spark, no clock of its own."""
