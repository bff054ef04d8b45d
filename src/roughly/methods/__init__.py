"""Published methods, one per file; `make` gives the one that the settings name (see `registry`).

The table of methods is read by `--help` too, so this folder imports numpy and pyarrow inside functions only, and the
names below are imported when first used. The class of a method is found here by its name: `methods.IMatch`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from roughly.methods.method import Judge, Keys, Method, Signature, s_curve
    from roughly.methods.registry import check, contents, counted_with, fingerprint, make, needs_count
    from roughly.methods.verified import Verified
    from roughly.options import METHODS, MethodSpec, Option, register, unregister

HELPERS = frozenset((
    "bands", "contained", "growing_lexicon", "judgement", "lexicon_checks", "method", "option_values", "permutations",
    "presets", "registry", "secret", "stability", "stored_vector", "term_filters",
    "verdict_chance", "verified",
))  # fmt: skip
"""Files of this folder that declare no method, so that reading the table of methods does not import them."""
_HOMES = {
    "roughly.methods.method": ("Judge", "Keys", "Method", "Signature", "s_curve"),
    "roughly.methods.registry": ("check", "contents", "counted_with", "fingerprint", "make", "needs_count"),
    "roughly.methods.verified": ("Verified",),
    "roughly.options": ("METHODS", "MethodSpec", "Option", "register", "unregister"),
}

__all__ = [
    "METHODS", "Judge", "Keys", "Method", "MethodSpec", "Option", "Signature", "Verified", "check", "contents",
    "counted_with", "fingerprint", "make", "needs_count", "register", "s_curve", "unregister",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(home), name)
    if name[0].isupper():  # not a file of this folder that is being imported
        from roughly.options import METHODS

        for spec in METHODS.values():
            if spec.method_class.__name__ == name:
                return spec.method_class
    raise AttributeError(f"module 'roughly.methods' has no attribute {name!r}")
