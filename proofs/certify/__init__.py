"""A checker of proof certificates: it believes no prover, and needs only Python's own library.

Read terms.py, reader.py, schemas.py, the rules in clauses.py, equality.py, arithmetic.py,
binders.py and normal.py, then checker.py.
"""
