"""Cases written to files, for those who test in another language or without whycast."""
