"""The API: one group of endpoints per file, all under /api."""
