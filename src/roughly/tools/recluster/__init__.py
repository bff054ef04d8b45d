"""Stored sketches and signatures, clustered without the documents."""
