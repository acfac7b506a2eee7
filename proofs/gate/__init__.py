"""The gate: all modules that a verdict rests on."""
