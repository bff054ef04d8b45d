"""Signatures as data: what a method keeps of documents in one Parquet file.

A search engine or a database may store them, compare them and throw the texts away. `sign` makes them; `roughly
cluster` groups them as it groups sketches (`job/stored.py`).
"""
