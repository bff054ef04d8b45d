"""Which documents of an index match a query, and with which scores."""
