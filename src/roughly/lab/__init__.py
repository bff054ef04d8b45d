"""Measuring and tuning; the papers' experiments on any corpus, one declared experiment a table.

An experiment takes a corpus and gives a table in the form of its paper. `experiments` lists them by name, and
`roughly lab run NAME` writes the table as Markdown and JSON.
"""
