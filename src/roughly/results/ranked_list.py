"""Ranked results in any form that callers give, as columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from roughly.errors import DuplicateIds, InputError
from roughly.fast_dataclass import dataclass

_FACTS = ("title", "url", "date", "source")


@dataclass(frozen=True)
class RankedList:
    """Results in the order of their ranks."""

    ids: list[str]
    texts: list[str] | None  # None: only ids were given
    markup: list[bool]
    facts: dict[str, list[str | None]]

    def __len__(self) -> int:
        return len(self.ids)


def read_results(results: Any, *, with_texts: bool) -> RankedList:
    """Read mappings with `doc_id` (or `id`) and `text`, strings that are ids or texts, or an Arrow table.

    Without `with_texts`, because signatures are stored, results need no text.
    """
    if isinstance(results, pa.Table | pa.RecordBatch):
        results = results.to_pylist()
    if isinstance(results, str | bytes | Mapping) or not isinstance(results, Iterable):
        raise InputError(
            f"results cannot be read from an object of type {type(results).__name__}; give a list of them, best first"
        )
    listed = [item if type(item) is dict else _mapping(item, n, with_texts) for n, item in enumerate(results, 1)]
    ids = [_id(item, number, with_texts) for number, item in enumerate(listed, 1)]
    if len(set(ids)) < len(ids):
        twice = next(doc_id for place, doc_id in enumerate(ids) if doc_id in ids[:place])
        raise DuplicateIds(f"two results have the id {twice!r}; ids name results, so they must differ")
    texts = None
    if with_texts:
        texts = [item.get("text") for item in listed]
        for number, text in enumerate(texts, 1):
            if not isinstance(text, str):
                raise InputError(
                    f"result {number} ({ids[number - 1]!r}) has no text; give it, or the index or signatures that "
                    "hold it"
                )
    facts = {name: [item.get(name) for item in listed] for name in _FACTS}
    for name, values in facts.items():
        if not all(value is None or type(value) is str for value in values):
            facts[name] = [None if value is None else str(value) for value in values]
    return RankedList(ids, texts, [bool(item.get("markup")) for item in listed], facts)  # type: ignore[arg-type]


def _mapping(item: Any, number: int, with_texts: bool) -> Mapping[str, Any]:
    if isinstance(item, str):
        return {"doc_id": str(number), "text": item} if with_texts else {"doc_id": item}
    if not isinstance(item, Mapping):
        raise InputError(f"result {number}: a mapping with doc_id and text is wanted, not {type(item).__name__}")
    return item


def _id(item: Mapping[str, Any], number: int, with_texts: bool) -> str:
    doc_id = item.get("doc_id", item.get("id"))
    if type(doc_id) is str and doc_id:
        return doc_id
    if doc_id is None or isinstance(doc_id, bool) or doc_id == "":
        if not with_texts:
            raise InputError(f"result {number} has no doc_id, by which its signature is found; give it one")
        return str(number)
    return str(doc_id)
