"""The papers' experiments on any corpus: one declared experiment a table, the same figures every time.

An experiment takes a corpus and gives a table in the form of its paper. `experiments` lists them by name, and
`roughly lab run NAME` writes the table as Markdown and JSON.
"""
