"""Proof certificates from cvc5, and the command that has them checked."""
