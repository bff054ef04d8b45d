"""Default values. Nothing heavy is imported here: the command line reads it."""

COST = 100.0
"""Cost of a wrongly removed document, in documents found (Kołcz 2008, eq. 5)."""
DRAWS = 1000
"""Number of draws of a bootstrap."""
LEVEL = 0.95
"""Level of confidence intervals."""
