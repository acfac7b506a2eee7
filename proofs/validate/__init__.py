"""Symbolic validation in Z3: the extracted Python on unknown integers, against its contracts."""
