"""What holds where a caller says nothing. Nothing heavy is imported here: the command line reads it."""

COST = 100.0
"""Cost of a document removed wrongly, in documents found (Kołcz 2008, eq. 5)."""
DRAWS = 1000
"""Draws of a bootstrap."""
LEVEL = 0.95
"""Level of confidence intervals."""
