"""Tuning: which method, with which settings, is best on *your* documents.

| module | what |
|---|---|
| `grid` | the settings that are tried, a declared list per method |
| `labelled_sample` | the user's labels: sets or pairs, in CSV or Parquet, or a column of the documents |
| `draw` | documents drawn, whole sets at a time |
| `reference` | what a trial is compared with: true sets, judged pairs, or the exact join |
| `trial` | one setting run on the sample, with its cost |
| `scored_sample` | all pairs of a sample scored once, and its clusters at every threshold |
| `search` | settings of `minhash` searched with labels, from coarse to fine |
| `frontier` | the Pareto frontier, and the goal of tuning |
| `selection` | which trial is chosen, and how well such choices do on unseen labels |
| `sample_fields` | what is known of documents beside their texts, for a verdict |
| `learn` | a verdict over several comparisons, fitted to labels |
| `choose` | all steps together |
| `show` | tables and pictures |

In: documents and optionally labels. Out: precision, recall and cost of each trial, and settings for `roughly dedupe`.
"""
