"""Audits: duplicates that were judged, labelled or split as if they were different documents.

| module | what |
|---|---|
| `qrels` | relevance judgments that disagree on duplicates (I-Match 2002, §4.6) |
| `label_conflicts` | training labels that disagree among duplicates |
| `leaks` | test documents that are in the training set, whole or in part |
| `findings` | what was found, as CSV, JSON and a summary |

Duplicates are found by the exact join (`tools.truth`), so none at or above the threshold is missed.
"""
