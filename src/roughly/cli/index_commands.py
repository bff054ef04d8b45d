"""`roughly index …`: all of its commands, which stand in three files."""

from __future__ import annotations

from roughly.cli import search_command, sweeps_command
from roughly.cli.index_command import app

sweeps_command.register(app)
search_command.register(app)

__all__ = ["app"]
