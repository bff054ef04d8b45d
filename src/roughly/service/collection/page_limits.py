"""How many rows a page has, and how far one can page."""

PAGE = 50  # rows per page by default
MOST = 500
DEEPEST = 1_000_000  # the last row that paging reaches; beyond it, filter
