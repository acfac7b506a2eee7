"""Certificates from cvc5; the checker refuses wrong ones."""
