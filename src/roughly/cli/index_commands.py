"""`roughly index …`: all of its commands, from four files. Help lists them in this order."""

from __future__ import annotations

import importlib

from roughly.cli.index_app import app

for _module in ("index_command", "index_upkeep_command", "sweeps_command", "search_command"):
    importlib.import_module(f"roughly.cli.{_module}")

__all__ = ["app"]
