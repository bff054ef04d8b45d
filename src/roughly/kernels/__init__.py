"""The hot loops: a thin, typed face of the compiled core `roughly._core`; arrays in, arrays out.

Every public function of the modules in this folder takes numpy arrays (usually views of Arrow buffers), checks them and
calls one compiled function without the GIL, which allocates what it returns. The loops are single-threaded unless a
function takes `threads`: callers run one batch per thread, so the bits are the same for one thread or many.

The core is written in C++ (folder `core/` of the repository, one header per module here) and built with the package.
If it cannot be loaded, importing this package says why and what to do in one sentence.
"""

from __future__ import annotations

import sys
from pathlib import Path

from roughly.errors import CoreUnusable

_PACKAGE = Path(__file__).parent.parent


def _problem(error: ImportError) -> str:
    """Why the core cannot be loaded, and the remedy."""
    tag = sys.implementation.cache_tag or sys.implementation.name
    built_for = sorted(path.name.split(".")[1] for path in _PACKAGE.glob("_core.*") if path.suffix in {".so", ".pyd"})
    if any(name.startswith(tag) or name == "abi3" for name in built_for):
        reason = str(error)
    elif built_for:
        reason = f"it was built for {', '.join(built_for)}"
    else:
        reason = "it has not been built"
    return (
        f"the compiled core of Roughly cannot be loaded by this Python ({tag}): {reason}; install Roughly again "
        "with it: python -m pip install --force-reinstall roughly (in a checkout: python -m pip install -e .)"
    )


try:
    from roughly import _core  # noqa: F401
except ImportError as error:
    raise CoreUnusable(_problem(error)) from None
