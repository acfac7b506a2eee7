"""What asks cvc5 for certificates: whatever is wrong here, the checker refuses what comes of it."""
