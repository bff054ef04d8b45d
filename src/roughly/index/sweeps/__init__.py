"""Sweeps: dated crawls of pages, and how pages move, change and are copied (Broder 1997, section 6)."""
