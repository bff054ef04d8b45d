"""Tables, transactions and rows of an index. Nothing here imports another folder of the index."""
