"""What an assessor and a user read: evidence, documentation, the runs of mutants."""
