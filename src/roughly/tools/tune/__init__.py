"""Choosing: which method, with which settings, does best on *your* documents.

| module | what |
|---|---|
| `grid` | the settings that are tried, a declared list a method |
| `labels` | what the user says is the same: sets or pairs, in CSV or Parquet |
| `sample` | documents drawn, whole sets at a time |
| `truth` | what a trial is measured by: true sets, judged pairs, or the exact join |
| `trial` | one setting run on the sample, with what it cost |
| `frontier` | what nothing else beats, and the one that is recommended |
| `choose` | all of it together |
| `show` | tables and pictures |

In: documents and perhaps labels. Out: precision, recall and cost of each trial, and settings for `roughly dedupe`.
"""
