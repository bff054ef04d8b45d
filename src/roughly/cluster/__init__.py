"""Which documents stand together, and who of them stays."""
