"""For assessors and users: evidence, documentation, the runs of mutants."""
