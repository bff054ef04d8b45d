"""The online index: a store of documents that answers queries one by one, with the verdicts of a batch run.

Its folders, each of which imports only those before it: `storage` (tables and rows), `matching` (which documents match
a query), `search` (full text), `upkeep` (check, refresh, upgrade, bulk load, import, export), `sweeps` (dated crawls).
"""

from __future__ import annotations

from roughly.index.answers import Added, Entry, Match, Stats
from roughly.index.index import Index

__all__ = ["Added", "Entry", "Index", "Match", "Stats"]
