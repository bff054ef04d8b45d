"""Whether an index is whole: no row is missing, none is left over, and the keys are those of the texts."""

from __future__ import annotations

from dataclasses import asdict, field
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, func, select

from roughly.fast_dataclass import dataclass
from roughly.index.index_config import IndexConfig
from roughly.index.matching.content_sets import ContentSets, content_keys
from roughly.index.matching.signed_batch import signed64
from roughly.index.search import search_index
from roughly.index.storage import hot_keys, stored_keys
from roughly.index.storage.bodies import unpack_texts
from roughly.index.storage.column_values import wrong_values
from roughly.index.storage.contents import NothingStored, count_rows, read_bodies
from roughly.index.storage.meta import read_number
from roughly.index.storage.schema import BODIES, CONTENTS, DOCUMENTS, LIVE, REVOKED, SIGNS
from roughly.index.storage.store import IndexStore
from roughly.signing.text_batch import TextBatch

Words = npt.NDArray[np.uint64]
_BLOCK = 2_000


@dataclass
class IndexCheck:
    """What was checked, and what is wrong."""

    documents: int = 0
    contents: int = 0
    keys: int = 0
    compared: int = 0  # texts whose digest and keys were made again
    problems: list[str] = field(default_factory=list)

    @property
    def whole(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self) | {"whole": self.whole}


def verify(store: IndexStore, connection: Connection, config: IndexConfig, sample: int | None = None) -> IndexCheck:
    """Check everything; with `sample`, keys are recomputed for a sample of this number of texts."""
    documents, texts = (count_rows(connection, table) for table in (DOCUMENTS, CONTENTS))
    check = IndexCheck(documents, texts, stored_keys.count(store, connection))
    if not store.postgres:
        lines = connection.exec_driver_sql("PRAGMA quick_check(5)").scalars().all()
        check.problems += [f"the file is damaged: {line}" for line in lines if line != "ok"]
    wrong = wrong_values(store, connection)
    check.problems += wrong
    _check_rows(connection, config, check)
    if wrong:  # what follows computes with the values
        return check
    _check_numbers(connection, check)
    _check_contents(store, connection, config, check, sample)
    check.problems += hot_keys.problems(store, connection)
    check.problems += search_index.problems(store, connection, sample)
    return check


def _check_rows(connection: Connection, config: IndexConfig, check: IndexCheck) -> None:
    """Rows without the row that they need, and rows that nothing needs."""

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
    if config.store != "sketch" or config.judge.on == "text":
        missing("contents have no body", CONTENTS, BODIES, live)
    if config.store != "text" or config.judge.on == "sketch":
        missing("contents have no signature", CONTENTS, SIGNS, live)
    if config.marked:
        unmarked = select(func.count()).select_from(CONTENTS).where(live, CONTENTS.c.marks.is_(None))
        if number := connection.execute(unmarked).scalar_one():
            check.problems.append(f"{number:,} contents have no bitmap")
    for what, table in (("bodies", BODIES), ("signatures", SIGNS)):
        revoked = select(func.count()).select_from(table.join(CONTENTS, CONTENTS.c.content == table.c.content))
        if number := connection.execute(revoked.where(CONTENTS.c.state == REVOKED)).scalar_one():
            check.problems.append(f"{number:,} revoked contents still have {what}")


def _check_numbers(connection: Connection, check: IndexCheck) -> None:
    """Numbers that would be used twice."""
    for name, column in (("next_content", CONTENTS.c.content), ("next_document", DOCUMENTS.c.document)):
        following = read_number(connection, name)
        highest = connection.execute(select(func.coalesce(func.max(column), 0))).scalar_one()
        if highest >= following:
            check.problems.append(f"{name} is {following}, and {highest} is taken")
    later = select(func.count()).select_from(CONTENTS).where(CONTENTS.c.cluster > CONTENTS.c.content)
    if number := connection.execute(later).scalar_one():
        check.problems.append(f"{number:,} contents are in a cluster that was started after them")


def _key_sums(store: IndexStore, connection: Connection, check: IndexCheck) -> tuple[npt.NDArray[np.int64], Words]:
    """The number of stored keys per content, and a sum over them that does not depend on their order."""
    highest = connection.execute(select(func.coalesce(func.max(CONTENTS.c.content), 0))).scalar_one()
    counts, sums = np.zeros(highest + 1, np.int64), np.zeros(highest + 1, np.uint64)
    strays = 0
    for keys, members in stored_keys.walk(store, connection):
        content = members >> 1
        inside = content <= highest
        strays += int((~inside).sum())
        np.add.at(counts, content[inside], 1)
        np.add.at(sums, content[inside], _mixed(keys[inside], members[inside]))
    if strays:
        check.problems.append(f"{strays:,} keys belong to no content")
    return counts, sums


def _check_contents(
    store: IndexStore, connection: Connection, config: IndexConfig, check: IndexCheck, sample: int | None
) -> None:
    """Make digests and keys again, and compare them with those stored."""
    counts, sums = _key_sums(store, connection, check)
    rows = connection.execute(select(CONTENTS.c.content, CONTENTS.c.hi, CONTENTS.c.lo, CONTENTS.c.state)).all()
    live = np.array(sorted(row[0] for row in rows if row[3] == LIVE), np.int64)
    digests = {row[0]: (row[1], row[2]) for row in rows}
    dead = np.ones(len(counts), np.bool_)
    dead[live] = False
    if number := int(counts[dead].sum()):
        check.problems.append(f"{number:,} keys belong to contents that were deleted or revoked")
    if sample is not None and sample < len(live):
        live = np.sort(np.random.default_rng().choice(live, sample, replace=False))
    wrong_keys = wrong_text = 0
    for at in range(0, len(live), _BLOCK):
        some = live[at : at + _BLOCK]
        try:
            keys = content_keys(store, connection, config, some)
            others = _other_digests(store, connection, config, some, digests) if config.store == "text" else 0
        except NothingStored:
            continue  # a body or a document is missing, which was reported above
        expected, summed = np.zeros(len(some), np.int64), np.zeros(len(some), np.uint64)
        np.add.at(expected, keys.owners, 1)
        np.add.at(summed, keys.owners, _mixed(keys.keys, 2 * some[keys.owners] + keys.is_probe))
        wrong_keys += int(((expected != counts[some]) | (summed != sums[some])).sum())
        wrong_text += others
    check.compared = len(live)
    if wrong_keys:
        check.problems.append(f"{wrong_keys:,} contents have other keys than their texts")
    if wrong_text:
        check.problems.append(f"{wrong_text:,} contents have another digest than their texts")


def _other_digests(
    store: IndexStore, connection: Connection, config: IndexConfig, some: npt.NDArray[np.int64], digests: dict[int, Any]
) -> int:
    texts = TextBatch(unpack_texts(read_bodies(store, connection, some)))
    found = texts.digests(config.method.collapse)
    fields = ContentSets(store, connection, config).load_fields(some)
    found = found if fields is None else fields.mixed(found)
    pairs = zip(signed64(found[:, 0]).tolist(), signed64(found[:, 1]).tolist(), strict=True)
    return sum(digests[number] != pair for number, pair in zip(some.tolist(), pairs, strict=True))


def _mixed(keys: npt.NDArray[np.int64], members: npt.NDArray[np.int64]) -> Words:
    with np.errstate(over="ignore"):
        mixed: Words = (keys.view(np.uint64) ^ np.uint64(0x9E3779B97F4A7C15)) * (
            members.view(np.uint64) * np.uint64(2) + np.uint64(0xBF58476D1CE4E5B9)
        )
    return mixed ^ (mixed >> np.uint64(29))
