"""Judging: people decide for pairs around the threshold whether they are the same (Conrad 2003, §7.2, made practical).

| module | what |
|---|---|
| `strata` | pairs drawn around the threshold, by score |
| `near_misses` | pairs just below the threshold, which a run does not list |
| `verdict_file` | the file: the pairs drawn, and every verdict, each safe on disk |
| `judge_session` | one judge's session: the next pair, same, different, skip, undo |
| `statistics` | agreement, precision with an interval |
| `implied_threshold` | the threshold that the verdicts imply |
| `judge_report` | all results together, and as a table |

Only `command` knows a terminal; the explorer's page uses the same modules.
"""
