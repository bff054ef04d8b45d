"""What every kernel checks before its loop runs: types, shapes, and offsets within the data.

A compiled loop does not check bounds, so a wrong offset would read foreign memory. The checks here cost microseconds
per batch. They are for callers' mistakes, hence plain `TypeError` and `ValueError`; users' mistakes are refused before.

An Arrow buffer is a read-only array, so every input becomes a read-only view.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Blocks = npt.NDArray[np.uint16]
Words = npt.NDArray[np.uint32]
Hashes = npt.NDArray[np.uint64]
Offsets = npt.NDArray[np.int64]

S = TypeVar("S", bound=np.generic)


class Table(NamedTuple):
    """The frozen Unicode table; see `classes`."""

    stage1: Blocks
    stage2: Words


def frozen(array: npt.NDArray[S], dtype: type[S], name: str) -> npt.NDArray[S]:
    """A read-only, contiguous, one-dimensional view of an array that must have this type; never a copy."""
    if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != 1:
        raise TypeError(f"{name} must be a one-dimensional array of {dtype.__name__}, not {_describe(array)}")
    if not array.flags.c_contiguous:
        raise TypeError(f"{name} must be contiguous; pass numpy.ascontiguousarray({name})")
    view = array.view()
    view.flags.writeable = False
    return view


def frozen_offsets(offsets: Offsets, length: int, name: str = "offsets") -> Offsets:
    """Offsets of n strings, as n + 1 positions within 0 … length that never fall."""
    view = frozen(offsets, np.int64, name)
    if len(view) == 0:
        raise ValueError(f"{name} must hold at least one position, the 0 of no documents")
    if view[0] < 0 or view[-1] > length or (len(view) > 1 and bool((np.diff(view) < 0).any())):
        raise ValueError(f"{name} must rise from 0 or more to at most {length}, the length of the data")
    return view


def _describe(array: Any) -> str:
    if isinstance(array, np.ndarray):
        return f"{array.ndim}-dimensional {array.dtype}"
    return type(array).__name__
