"""Decisions: what people decide about documents of a finished run, stored beside it and applied to a new one.

| module | what |
|---|---|
| `decision_file` | the file: one line per decision, each safe on disk |
| `decision_effects` | which documents are then kept and removed, and why |
| `api` | `Decisions`: record, undo, list, preview, apply |

`roughly apply` and the explorer use the same modules.
"""
