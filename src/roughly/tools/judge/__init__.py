"""Judging: people say of pairs around the threshold whether they are the same (Conrad 2003, §7.2, made practical).

| module | what |
|---|---|
| `strata` | pairs drawn around the threshold, by score |
| `near` | pairs just below the threshold, which a run does not list |
| `verdicts` | the file: the pairs drawn, and every verdict, safe after each |
| `session` | one judge at work: what is next, same, different, skip, undo |
| `statistics` | agreement, precision with an interval |
| `implied` | the threshold that the verdicts imply |
| `report` | all of it together, and as a table |

Nothing here knows a terminal: `cli/judge.py` shows, and a page could do so as well.
"""
