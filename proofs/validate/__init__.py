"""Symbolic validation: the extracted Python, run on unknown integers, against the texts in Z3."""
