"""How well duplicates were found, compared with the truth. Arrays in, numbers out; no Python object per pair.

| module | what |
|---|---|
| `overlap` | per document, the numbers of partners found, true, and both: the basis of the others |
| `pair_accuracy` | precision, recall and F1 of pairs and of documents; recall by resemblance |
| `cluster_scores` | adjusted Rand, B-cubed, purity, clusters per true set |
| `query_scores` | recall, precision and utility of queries (Kołcz 2008, §6.4) |
| `set_agreement` | duplicate sets found in result lists (Conrad 2003, §7.2) |
| `families` | originals and their copies found again (I-Match 2002, §4.3) |
| `intervals` | confidence intervals by bootstrap over true sets |
| `measure` | all of them together, as `roughly evaluate` prints them |

A ratio with denominator 0 is None, never 0 or 1.
"""
