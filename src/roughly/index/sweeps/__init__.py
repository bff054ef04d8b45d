"""Dated sweeps of pages, and what they tell (Broder 1997, section 6)."""
