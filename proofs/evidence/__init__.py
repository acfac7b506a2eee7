"""What proves the theories, judges the proofs and writes what an assessor reads."""
