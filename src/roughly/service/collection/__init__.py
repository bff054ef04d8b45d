"""One interface to the served data, a run or an index: clusters, documents, texts, evidence, statistics."""
