"""Sketches: samples of documents to estimate resemblance and containment without their text (Broder 1997, §3).

With V(A) the shingles of A below a common limit, both ratios are those of a random sample, and so unbiased:

    resemblance ≈ |V(A) ∩ V(B)| / |V(A) ∪ V(B)|          containment of A in B ≈ |V(A) ∩ V(B)| / |V(A)|

and for MIN_s the same, of the s smallest values of the union. Given n values in the denominator, the numerator is
hypergeometric, so the standard error of an estimate e is

    √( e·(1 − e)·(1 − f) / n )          f = the share of all shingles that was counted

An estimate of nothing (n = 0) is not a number: NaN.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from roughly.features.shingle_sets import Sets

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]

EVERY = 2**64 - 1
"""The limit of a sketch that holds every shingle of its document."""


Sketch = Sets
"""A sketch is a set that is complete up to a limit; a set without limits is a sketch that holds everything."""


def limits_of(sketch: Sketch) -> Hashes:
    """The limit of each document, also if all are complete."""
    return np.full(len(sketch), EVERY, np.uint64) if sketch.limits is None else sketch.limits


class Estimate(NamedTuple):
    """Estimates of pairs, with their standard errors. NaN if nothing was sampled."""

    resemblance: Floats
    resemblance_error: Floats
    containment: Floats  # of the left document in the right one
    containment_error: Floats
    contained_in: Floats  # of the right document in the left one
    contained_in_error: Floats
    counts: Ints  # (n, 3): shared, of the left, of the right


def estimate(sketch: Sketch, left: Ints, right: Ints) -> Estimate:
    """Resemblance and both containments of the documents left[i] and right[i]."""
    from roughly.kernels import sketches

    counts, reach = sketches.estimates(
        sketch.values, sketch.offsets, limits_of(sketch), sketch.most, left, right
    )  # fmt: skip
    share = (reach.astype(np.float64) + 1.0) / 2.0**64
    shared, mine, theirs = counts.T
    resemblance = ratio_and_error(shared, mine + theirs - shared, share)
    return Estimate(
        *resemblance, *ratio_and_error(shared, mine, share), *ratio_and_error(shared, theirs, share), counts
    )  # fmt: skip


def ratio_and_error(shared: Ints, whole: Ints, share: Floats) -> tuple[Floats, Floats]:
    """shared / whole and its standard error, if `share` of all features was counted."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = shared / whole
        error = np.sqrt(ratio * (1.0 - ratio) * np.maximum(1.0 - share, 0.0) / whole)
    return ratio, error


def reduce(sketch: Sketch, limits: Hashes | int) -> Sketch:
    """The sketch cut at smaller limits, one per document or one for all: the same as sampling at these limits.

    So V_{i+1}(D) comes from V_i(D) without the document (Broder 1997, §3).
    """
    cut = np.minimum(limits_of(sketch), np.asarray(limits, np.uint64))
    sizes = np.diff(sketch.offsets)
    start, end = int(sketch.offsets[0]), int(sketch.offsets[-1])
    stays = sketch.values[start:end] <= np.repeat(cut, sizes)
    running = np.r_[0, np.cumsum(stays)]
    return replace(
        sketch, values=sketch.values[start:end][stays], offsets=running[sketch.offsets - start], limits=cut
    )  # fmt: skip


def joined(sketches: list[Sketch]) -> Sketch:
    """Several sketches of one sampling as one, in order."""
    if not sketches:
        return Sketch(np.empty(0, np.uint64), np.zeros(1, np.int64))
    whole = all(sketch.limits is None for sketch in sketches)
    sizes = np.concatenate([np.diff(sketch.offsets) for sketch in sketches])
    return Sketch(
        np.concatenate([sketch.values[sketch.offsets[0] : sketch.offsets[-1]] for sketch in sketches]),
        np.r_[0, np.cumsum(sizes)].astype(np.int64),
        None if whole else np.concatenate([limits_of(sketch) for sketch in sketches]),
        sketches[0].most,
    )
