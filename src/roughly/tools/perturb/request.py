"""The request of `perturb`."""

from __future__ import annotations

from typing import Any

from roughly import checks
from roughly.declarations import group, option
from roughly.fast_dataclass import dataclass

ADDED = ("terms", "text", "document")
FORMATS = ("parquet", "jsonl")


def _names(text: str) -> Any:
    """Names with commas between them, or `all`."""
    return text if text.strip() == "all" else tuple(name.strip() for name in text.split(",") if name.strip())


@dataclass(frozen=True, kw_only=True)
class PerturbRequest:
    """What copies to make. `kinds` are names, or `all`."""

    kinds: Any = option(
        ("words",), "Kinds of copies, separated by commas, or all.", "--kind", read=_names, shown="words"
    )
    alpha: float = option(9.0, "How much is left unchanged, out of ten.")
    every: int = option(10, "words: one word in this number may change.")
    added: str = option("terms", f"words: inserted words are from {', '.join(ADDED[:-1])} or {ADDED[-1]}.")
    versions: int = option(3, "split: versions of a campaign.")
    copies: int = option(1, "Copies per document and kind.")
    documents: int = option(0, "Number of documents to copy, drawn at random (0 = all).")
    seed: int = option(0, "Random seed.")

    def __post_init__(self) -> None:
        from roughly.tools.perturb.copy_kinds import KINDS

        kinds = tuple(KINDS) if self.kinds == "all" else (self.kinds,) if isinstance(self.kinds, str) else self.kinds
        object.__setattr__(self, "kinds", tuple(kinds))
        checks.refuse(
            [
                *(line for kind in self.kinds for line in checks.one_of("kind", kind, KINDS)),
                *([] if self.kinds else ["no kind of copy is named; kinds are " + ", ".join(KINDS)]),
                *checks.share("alpha", self.alpha, most=10),
                *checks.whole("every", self.every, 1, 10**6),
                *checks.one_of("added", self.added, ADDED),
                *checks.whole("versions", self.versions, 1, 10**6),
                *checks.whole("copies", self.copies, 1, 10**6),
                *checks.whole("documents", self.documents, 0, 2**32),
                *checks.whole("seed", self.seed, 0, 2**63 - 1),
            ]
        )


@dataclass(frozen=True, kw_only=True)
class PerturbedFolder:
    """The output: originals, labels and format."""

    request: PerturbRequest = group(PerturbRequest)
    originals: bool = option(True, "Write the originals too.", "--originals/--no-originals")
    shingle_size: int = option(5, "Words per shingle, for the labels.")
    format: str = option("parquet", f"{' or '.join(FORMATS)}.")
    text_column: str | None = option(None, "Column of the text; several: title,text.")

    def __post_init__(self) -> None:
        checks.refuse([*checks.one_of("format", self.format, FORMATS), *checks.shingle_size(self.shingle_size)])
