"""The rooms of the index import only those below them."""

from __future__ import annotations

import pytest

from source_tree import edges

BELOW: dict[str, set[str]] = {
    "storage": set(),
    "matching": {"answers", "index_config", "storage"},
    "search": {"answers", "index_config", "storage"},
}
"""What a room may import of the index, beside itself."""


def rooms_imported_by(room: str) -> set[str]:
    graph = edges()
    own = [name for name in graph if name == f"index.{room}" or name.startswith(f"index.{room}.")]
    assert own, f"there is no room {room}"
    targets = {target for name in own for target in graph[name] if target.startswith("index.")}
    return {target.split(".")[1] for target in targets} - {room}


@pytest.mark.parametrize("room", BELOW)
def test_a_room_imports_only_those_below_it(room: str) -> None:
    assert rooms_imported_by(room) <= BELOW[room]


def test_upkeep_does_not_need_an_open_index() -> None:
    assert not rooms_imported_by("upkeep") & {"index", "stream", "sweeps", "transactions"}
