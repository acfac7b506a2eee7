"""Certificates from cvc5; whatever goes wrong here, the checker refuses the result."""
