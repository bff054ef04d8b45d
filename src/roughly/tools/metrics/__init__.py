"""How well duplicates were found, measured against what is true. Arrays in, numbers out; no Python object a pair.

| module | what |
|---|---|
| `overlap` | of each document, how many partners were found, are true, and both: what the others are made of |
| `pairs` | precision, recall and F1 of pairs and of documents; recall by resemblance |
| `clusters` | adjusted Rand, B-cubed, purity, clusters a true set |
| `queries` | recall, precision and utility of queries (Kołcz 2008, §6.4) |
| `families` | originals and their copies found again (I-Match 2002, §4.3) |
| `intervals` | confidence intervals by bootstrap over true sets |
| `figures` | all of them together, as `roughly evaluate` prints them |

A share of nothing is None, never 0 or 1.
"""
