"""The API: one group of endpoints a file, all under /api."""
