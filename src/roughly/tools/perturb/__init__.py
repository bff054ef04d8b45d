"""Copies made on purpose, with labels: from small slips to pages that only look alike. Seeded: the same arguments give
the
same copies, whatever the order of the input.

| module | what |
|---|---|
| `kinds` | every kind of copy by name |
| `edits`, `units`, `words`, `noise`, `spam` | how each is made |
| `recipe`, `passage` | what an edit says, and a text that does it |
| `make` | copies of a corpus |
| `terms` | the words that are put in |
"""
