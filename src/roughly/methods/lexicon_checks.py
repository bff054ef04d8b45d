"""Checks that several methods share: those of `roughly.checks`, and of a lexicon."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from roughly.checks import above_zero, common, one_of, refuse, share, shingle_size, threshold, whole

if TYPE_CHECKING:
    from roughly.text.filters import Filters

__all__ = ["above_zero", "common", "lexicon", "norm", "one_of", "refuse", "share", "shingle_size", "threshold", "whole"]


def lexicon(value: Any, filters: Filters | None) -> Iterator[str]:
    """A complaint unless it is a lexicon whose terms are stemmed if and only if the filters stem."""
    from roughly.lexicon.lexicon import Lexicon
    from roughly.text.filters import Filters

    if not isinstance(value, Lexicon):
        yield f"lexicon must be a Lexicon, not {type(value).__name__}: lexicon.default() or lexicon.Lexicon.open(path)"
        return
    has_stems = "stem" in Filters.parse(value.facts.filters).names
    stems_wanted = filters is not None and "stem" in filters.names
    if has_stems != stems_wanted:
        states = {True: "stems", False: "whole words"}
        yield (
            f"{value.name} has {states[has_stems]}, and the filters give {states[stems_wanted]}; "
            f"{'add' if has_stems else 'leave out'} the filter stem, or take a lexicon "
            f"{'of' if stems_wanted else 'without'} stems"
        )


def norm(value: Any) -> Iterator[str]:
    """A complaint unless it names a scale of idf."""
    from roughly.lexicon.idf import NORMS

    return one_of("norm", value, NORMS)
