"""Features of documents: word shingles, as sorted sets of 64-bit hashes."""
