"""Whether an index is whole: every row has what it needs, nothing is left over, and keys are those of the texts."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, func, select

from roughly.index.config import IndexConfig
from roughly.index.matching.signed_batch import signed64
from roughly.index.search import search as searching
from roughly.index.storage import contents
from roughly.index.storage import hot_keys as crowds
from roughly.index.storage import stored_keys as keys_
from roughly.index.storage.bodies import unpack_texts
from roughly.index.storage.schema import BODIES, CONTENTS, DOCUMENTS, LIVE, META, REVOKED, SIGNS
from roughly.index.storage.store import IndexStore
from roughly.signing.text_batch import TextBatch

Words = npt.NDArray[np.uint64]
_BLOCK = 2_000


@dataclass
class IndexCheck:
    """What was looked at, and what is wrong."""

    documents: int = 0
    contents: int = 0
    keys: int = 0
    compared: int = 0  # texts whose digest and keys were made again
    problems: list[str] = field(default_factory=list)

    @property
    def whole(self) -> bool:
        """Nothing is wrong."""
        return not self.problems

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self) | {"whole": self.whole}


def verify(store: IndexStore, connection: Connection, bound: IndexConfig, sample: int | None = None) -> IndexCheck:
    """Look at everything; with `sample`, make the keys of so many texts again only."""
    documents, texts = (contents.count(connection, table) for table in (DOCUMENTS, CONTENTS))
    check = IndexCheck(documents, texts, keys_.count(store, connection))
    if not store.postgres:
        told = connection.exec_driver_sql("PRAGMA quick_check(5)").scalars().all()
        check.problems += [f"the file is damaged: {line}" for line in told if line != "ok"]
    _count(connection, bound, check)
    _numbers(connection, check)
    counts, sums = _stored_keys(store, connection, check)
    _compare(store, connection, bound, check, counts, sums, sample)
    check.problems += crowds.problems(store, connection)
    check.problems += searching.problems(store, connection, sample)
    return check


def _count(connection: Connection, bound: IndexConfig, check: IndexCheck) -> None:
    """Rows that lack another, or that another lacks."""

    def missing(what: str, table: Any, other: Any, *where: Any) -> None:
        column = other.c.content
        found = select(func.count()).where(~select(column).where(column == table.c.content).exists(), *where)
        number = connection.execute(found.select_from(table)).scalar_one()
        if number:
            check.problems.append(f"{number:,} {what}")

    live = CONTENTS.c.state == LIVE
    missing("documents have no content", DOCUMENTS, CONTENTS)
    missing("contents belong to no document", CONTENTS, DOCUMENTS, live)
    missing("bodies belong to no content", BODIES, CONTENTS)
    missing("signatures belong to no content", SIGNS, CONTENTS)
    if bound.store != "sketch" or bound.judge.on == "text":
        missing("contents have no body", CONTENTS, BODIES, live)
    if bound.store != "text" or bound.judge.on == "sketch":
        missing("contents have no signature", CONTENTS, SIGNS, live)
    if bound.marked:
        unmarked = select(func.count()).select_from(CONTENTS).where(live, CONTENTS.c.marks.is_(None))
        if number := connection.execute(unmarked).scalar_one():
            check.problems.append(f"{number:,} contents have no bitmap")
    for what, table in (("bodies", BODIES), ("signatures", SIGNS)):
        revoked = select(func.count()).select_from(table.join(CONTENTS, CONTENTS.c.content == table.c.content))
        if number := connection.execute(revoked.where(CONTENTS.c.state == REVOKED)).scalar_one():
            check.problems.append(f"{number:,} revoked contents still have {what}")


def _numbers(connection: Connection, check: IndexCheck) -> None:
    """Numbers that would be given twice."""
    for name, column in (("next_content", CONTENTS.c.content), ("next_document", DOCUMENTS.c.document)):
        following = int(connection.execute(select(META.c.value).where(META.c.name == name)).scalar_one())
        highest = connection.execute(select(func.coalesce(func.max(column), 0))).scalar_one()
        if highest >= following:
            check.problems.append(f"{name} is {following}, and {highest} is taken")
    later = select(func.count()).select_from(CONTENTS).where(CONTENTS.c.cluster > CONTENTS.c.content)
    if number := connection.execute(later).scalar_one():
        check.problems.append(f"{number:,} contents stand in a cluster that was started after them")


def _stored_keys(store: IndexStore, connection: Connection, check: IndexCheck) -> tuple[npt.NDArray[np.int64], Words]:
    """How many keys each content has in the table, and a sum of them that does not depend on their order."""
    highest = connection.execute(select(func.coalesce(func.max(CONTENTS.c.content), 0))).scalar_one()
    counts, sums = np.zeros(highest + 1, np.int64), np.zeros(highest + 1, np.uint64)
    strays = 0
    for keys, members in keys_.walk(store, connection):
        content = members >> 1
        inside = content <= highest
        strays += int((~inside).sum())
        np.add.at(counts, content[inside], 1)
        np.add.at(sums, content[inside], _mixed(keys[inside], members[inside]))
    if strays:
        check.problems.append(f"{strays:,} keys belong to no content")
    return counts, sums


def _compare(
    store: IndexStore,
    connection: Connection,
    bound: IndexConfig,
    check: IndexCheck,
    counts: npt.NDArray[np.int64],
    sums: Words,
    sample: int | None,
) -> None:
    """Make digests and keys again, and compare."""
    rows = connection.execute(select(CONTENTS.c.content, CONTENTS.c.hi, CONTENTS.c.lo, CONTENTS.c.state)).all()
    live = np.array(sorted(row[0] for row in rows if row[3] == LIVE), np.int64)
    digests = {row[0]: (row[1], row[2]) for row in rows}
    dead = np.ones(len(counts), np.bool_)
    dead[live] = False
    if number := int(counts[dead].sum()):
        check.problems.append(f"{number:,} keys belong to contents that are gone or revoked")
    if sample is not None and sample < len(live):
        live = np.sort(np.random.default_rng().choice(live, sample, replace=False))
    wrong_keys = wrong_text = 0
    for at in range(0, len(live), _BLOCK):
        some = live[at : at + _BLOCK]
        try:
            keys = contents.keys_of(store, connection, bound, some)
        except KeyError:
            continue  # a body is missing, and was counted above
        expected, summed = np.zeros(len(some), np.int64), np.zeros(len(some), np.uint64)
        np.add.at(expected, keys.owners, 1)
        np.add.at(summed, keys.owners, _mixed(keys.keys, 2 * some[keys.owners] + keys.asks))
        wrong_keys += int(((expected != counts[some]) | (summed != sums[some])).sum())
        if bound.store == "text":
            wrong_text += _other_digests(store, connection, bound, some, digests)
    check.compared = len(live)
    if wrong_keys:
        check.problems.append(f"{wrong_keys:,} contents have other keys than their texts")
    if wrong_text:
        check.problems.append(f"{wrong_text:,} contents have another digest than their texts")


def _other_digests(
    store: IndexStore, connection: Connection, bound: IndexConfig, some: npt.NDArray[np.int64], digests: dict[int, Any]
) -> int:
    texts = TextBatch(unpack_texts(contents.read_bodies(store, connection, some)))
    found = texts.digests(bound.method.collapse)
    pairs = zip(signed64(found[:, 0]).tolist(), signed64(found[:, 1]).tolist(), strict=True)
    return sum(digests[number] != pair for number, pair in zip(some.tolist(), pairs, strict=True))


def _mixed(keys: npt.NDArray[np.int64], members: npt.NDArray[np.int64]) -> Words:
    with np.errstate(over="ignore"):
        mixed: Words = (keys.view(np.uint64) ^ np.uint64(0x9E3779B97F4A7C15)) * (
            members.view(np.uint64) * np.uint64(2) + np.uint64(0xBF58476D1CE4E5B9)
        )
    return mixed ^ (mixed >> np.uint64(29))
