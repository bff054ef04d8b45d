"""The embedded engine."""

from roughly.engines.local.engine import LocalEngine

__all__ = ["LocalEngine"]
