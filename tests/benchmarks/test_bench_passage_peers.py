"""What a tool that names ranges of bytes leaves of the texts."""

from __future__ import annotations

from benchmarks.peers.deduplicate_text_datasets import kept_texts


def test_ranges_are_cut_out_of_the_texts_they_are_in() -> None:
    content = b"--abcdef--ghijkl--mnopqr--"
    places = [(2, 8), (10, 16), (18, 24)]
    assert list(kept_texts(content, places, [])) == ["abcdef", "ghijkl", "mnopqr"]
    assert list(kept_texts(content, places, [(0, 3), (4, 6), (12, 16)])) == ["bef", "gh", "mnopqr"]
    assert list(kept_texts(content, places, [(6, 20), (21, 26)])) == ["abcd", "", "o"]
    assert list(kept_texts(content, places, [(0, 26)])) == ["", "", ""]


def test_half_a_character_is_dropped() -> None:
    assert list(kept_texts("aéb".encode(), [(0, 4)], [(0, 2)])) == ["b"]
