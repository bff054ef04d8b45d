"""What is built on top of an index works on both databases: streams, grouped results, sweeps."""

from __future__ import annotations

import roughly
from roughly import Index, Settings, Sweeps, group_results
from stream_texts import edited, prose

HOST = "http://a.org"


def test_a_stream(place: str) -> None:
    with Index.create(place, Settings(threshold=0.7)) as index:
        stream = [{"doc_id": "a", "text": prose(1)}, {"doc_id": "b", "text": edited(prose(1), 1)}]
        assert [one.verdict for one in roughly.match(index, stream, add=True)] == ["new", "known"]
        (taken,) = roughly.match(index, {"text": prose(1)}, revoke=True)
        assert taken.revoked == ("a", "b")
        assert next(roughly.match(index, {"text": prose(1)})).verdict == "new"


def test_results(place: str) -> None:
    with Index.create(place, Settings(threshold=0.7), store="shingles") as index:
        index.add([{"doc_id": f"r{n}", "text": edited(prose(n % 3), n)} for n in range(9)])
        found = group_results([f"r{n}" for n in range(9)], index=index)
    assert [[g.shown.doc_id, *(d.doc_id for d in g.duplicates)] for g in found] == [
        [f"r{n}", f"r{n + 3}", f"r{n + 6}"] for n in range(3)
    ]


def test_sweeps(place: str) -> None:
    with Index.create(place, Settings(threshold=0.7)) as index:
        sweeps = Sweeps(index)
        sweeps.add([{"url": f"{HOST}/{n}", "text": prose(n)} for n in range(6)], date="2024-01-01")
        later = [{"url": f"{HOST}/{n}", "text": edited(prose(n), n)} for n in range(3)]
        later += [{"url": "http://b.org/4", "text": prose(4)}, {"url": f"{HOST}/7", "text": prose(7)}]
        sweeps.add(later, date="2024-02-01")
        (interval,) = sweeps.changes().intervals
        assert (interval.changed, interval.moved_between, interval.died, interval.born) == (3, 1, 2, 1)
        assert sweeps.lost(f"{HOST}/4").found[0].url == "http://b.org/4"
        assert [copy.url for copy in sweeps.copies("http://b.org/4").found] == [f"{HOST}/4"]
        assert index.verify().whole
        assert sweeps.drop("2024-01-01") == 6 and [sweep.date for sweep in sweeps] == ["2024-02-01"]
