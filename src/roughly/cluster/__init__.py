"""Which documents form a cluster, and which of them are kept."""
