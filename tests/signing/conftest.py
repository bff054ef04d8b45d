"""Kernels compile on their first call, so the first example of a property may take seconds."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("compiled", deadline=None)
settings.load_profile("compiled")
