"""Truth: every pair of documents at or above a threshold, with no sampling and no chance.

| module | what |
|---|---|
| `asked` | what is asked for, checked |
| `collection` | documents as sets or vectors, on disk, equal ones found |
| `sets` | the join for resemblance and containment |
| `vectors` | the join for cosine |
| `expand` | equal documents put back, pairs sorted and named |

In: batches of tokens. Out: a table of pairs. The same bytes for any number of threads and any memory.
"""
