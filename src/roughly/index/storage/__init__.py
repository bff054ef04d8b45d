"""Tables, transactions and rows of an index. Nothing here imports another room of the index."""
