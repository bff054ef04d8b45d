"""Writes src/roughly/_core.pyi, the types of the compiled core, from the module itself: `make stub`.

nanobind's own stub says of every array its order, shape and device too, which no type checker looks at; here only the
type of the elements is left.
"""

from __future__ import annotations

import re
from pathlib import Path

from nanobind.stubgen import StubGen

from roughly import _core

_NOISE = re.compile(r"Annotated\[(NDArray\[[\w.]+\]), dict\(shape=\([^)]*\)[^)]*\)\]")
_HEAD = '"""The compiled core; written by core/tools/make_stub.py."""\n\nfrom collections.abc import Sequence\n'


def main() -> None:
    """Write the stub."""
    generator = StubGen(_core)
    generator.put(_core)
    text = _NOISE.sub(r"\1", generator.get())
    text = text[text.index("from typing") :].replace("from typing import Annotated", "from typing import Any")
    text = re.sub(r"-> tuple: \.\.\.", "-> tuple[Any, ...]: ...", text)
    Path("src/roughly/_core.pyi").write_text(_HEAD + text, encoding="utf-8")


if __name__ == "__main__":
    main()
