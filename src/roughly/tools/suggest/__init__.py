"""Suggestions without labels: what kind of collection it is, which settings fit, and what they would remove."""
