"""Tables, transactions and rows of an index. Nothing here calls a room above."""
