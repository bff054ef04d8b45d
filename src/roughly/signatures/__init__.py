"""Signatures as data: what a method keeps of documents in one Parquet file, and clusters made of nothing else.

A search engine or a database may store them, compare them and throw the texts away. `sign` makes them, `cluster` groups
them; `grouping` is the same in memory, for the lab too.
"""
