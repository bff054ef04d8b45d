"""The group of commands `roughly index`, and the index that its commands open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roughly.console.commands import command_group

if TYPE_CHECKING:
    from roughly.console.common_options import IndexPlace
    from roughly.index import Index

app = command_group("A store of documents to query for duplicates: create, add, query, remove, …")


def open_index(place: IndexPlace) -> Index:
    """The index that a command names."""
    from roughly.index import Index

    return Index.open(place.where, key_file=place.key_file)
