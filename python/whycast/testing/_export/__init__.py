"""Cases written to files, for tests in another language or without whycast."""
