"""Copies made on purpose, with labels: from small slips to pages that only look similar.

The same arguments and seed give the same copies, whatever the order of the input.

| module | what |
|---|---|
| `copy_kinds` | every kind of copy by name |
| `edits`, `unit_edits`, `word_edits`, `spam_edits`, `noise` | how each is made |
| `recipe`, `cut_text` | the instructions of an edit, and a text that applies them |
| `make` | copies of a corpus |
| `inserted_terms` | the words that are inserted |
"""
