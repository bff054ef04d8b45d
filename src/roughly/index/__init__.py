"""The online index: a store of documents, asked one by one, with the verdicts of a batch run."""

from __future__ import annotations

from roughly.index.answers import Added, Entry, Match, Stats
from roughly.index.index import Index

__all__ = ["Added", "Entry", "Index", "Match", "Stats"]
