"""A checker of proof certificates: it believes no prover, and knows nothing of Why3.

Read it in this order: terms.py, reader.py, schemas.py, the rules in clauses.py, equality.py,
arithmetic.py, binders.py and normal.py, checker.py. It needs Python's own library and nothing else.
"""
