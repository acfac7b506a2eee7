"""Certificates from cvc5; if anything goes wrong here, the checker refuses the certificate."""
