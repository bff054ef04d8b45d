"""Full-text search over the documents of an index."""
