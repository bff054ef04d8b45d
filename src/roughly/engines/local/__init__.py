"""The embedded engine."""

from roughly.engines.local.engine import LocalEngine
from roughly.engines.local.workspace import Workspace

__all__ = ["LocalEngine", "Workspace"]
