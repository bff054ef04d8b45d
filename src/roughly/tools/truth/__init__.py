"""Truth: every pair of documents at or above a threshold, without sampling.

| module | what |
|---|---|
| `request` | the request, checked |
| `feature_files` | documents as sets or vectors, on disk, equal ones found |
| `set_join` | the join for resemblance and containment |
| `vector_join` | the join for cosine |
| `expand` | equal documents restored, pairs sorted and named |

In: batches of tokens. Out: a table of pairs. The same bytes for any number of threads and any memory.
"""
