"""What moto 5.2.5 lacks, one module each; a test of each fails once moto has it."""
