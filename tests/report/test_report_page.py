"""The page shows the figures it was given, each in its section."""

from __future__ import annotations

import random

import pytest
from filled_report import RUN, Page, cells, filled, read_page

from roughly.report import PairSample, RunData, render

SECTIONS = {
    "kinds": "kinds",
    "sizes": "cluster_sizes",
    "resemblance": "resemblance",
    "sources": "by_source",
    "clusters": "largest",
    "above": "above",
    "below": "below",
}


def test_headline_says_it_in_plain_words(page: Page) -> None:
    assert page.elements["h1"] == ["37,071 documents in, 31,200 kept, 5,871 removed (15.8 %), 41 MB saved."]


def test_counts_are_those_of_the_run(page: Page) -> None:
    shown = page.sections["facts"]
    counted = ("2,104", "812", "3,301", "412", "9,120", "44,100", "10,930", "4.4 s", "611 MB")
    for figure in counted:
        assert figure in shown
    assert "24.8 % of the candidates" in shown


def test_big_figures_add_up(page: Page) -> None:
    top = page.sections["top"]
    assert "84.2 %" in top and "15.8 %" in top  # kept and removed, of the documents
    assert "15.2 % of the text" in top
    bar = [a for tag, a in page.tags if tag == "rect" and a.get("class") in ("kept", "removed")][:2]
    widths = [float(a["width"] or 0) for a in bar]
    assert widths[0] == pytest.approx(841.6, abs=0.1) and sum(widths) == pytest.approx(1000, abs=0.2)


def test_rejected_point_to_the_quarantine(page: Page) -> None:
    assert "17 records could not be used." in page.sections["top"]
    assert "quarantine.jsonl" in page.sections["top"]
    clean = read_page(filled(run={**RUN, "counts": {**RUN["counts"], "rejected": 0}}))
    assert "quarantine.jsonl" not in clean.text
    assert "1 record could not be used." in read_page(filled(run={**RUN, "counts": {"rejected": 1}})).text


def test_kinds_and_their_shares(page: Page) -> None:
    assert cells(page, "kinds")[1:] == [
        ["exact", "3,713", "63.2 %"],
        ["revision", "1,858", "31.6 %"],
        ["excerpt", "300", "5.1 %"],
    ]


def test_cluster_sizes_in_classes_that_double(page: Page) -> None:
    assert cells(page, "sizes")[1:] == [
        ["2–3", "1,900"],
        ["4–7", "150"],
        ["8–15", "50"],
        ["16–31", "0"],
        ["32–63", "3"],
        ["64–127", "0"],
        ["128–255", "0"],
        ["256–511", "0"],
        ["512–1,023", "1"],
    ]
    assert "1,500 of 2,104 clusters (71.3 %) are pairs; the largest has 812 documents." in page.sections["sizes"]


def test_resemblances_from_just_below_the_threshold_on(page: Page) -> None:
    assert cells(page, "resemblance")[1:] == [
        ["0.75 to 0.8", "0"],
        ["0.8 to 0.85", "120"],
        ["0.85 to 0.9", "240"],
        ["0.9 to 0.95", "300"],
        ["0.95 to 1", "5,211"],
    ]
    assert "threshold 0.8" in page.sections["resemblance"]


def test_sources_top_twenty_and_the_rest() -> None:
    rows = cells(read_page(filled(run={})), "sources")[1:]
    assert len(rows) == 21
    assert rows[0] == ["site-30.example", "300", "30", "10.0 %", "29 KB"]
    assert [row[0] for row in rows[:20]] == [f"site-{n:02}.example" for n in range(30, 10, -1)]
    assert rows[20] == ["10 other sources", "550", "55", "10.0 %", "54 KB"]


def test_sources_that_were_not_handed_over_are_counted_too(page: Page) -> None:
    """The thirty sources of the sample hold a part of the documents only; the counts know the rest."""
    rows = cells(page, "sources")[1:]
    assert len(rows) == 21
    assert rows[20] == ["all other sources", "32,971", "5,461", "16.6 %", "41 MB"]


def test_a_document_without_a_source_is_not_called_by_one() -> None:
    rows = cells(read_page(filled(by_source=[(None, 5, 2, 10), ("", 4, 1, 5)])), "sources")[1:]
    assert [row[0] for row in rows] == ["no source given", "(empty)", "all other sources"]


def test_a_removed_document_of_unknown_kind() -> None:
    assert cells(read_page(filled(kinds=[(None, 2), ("exact", 2)])), "kinds")[1:] == [
        ["unknown kind", "2", "50.0 %"],
        ["exact", "2", "50.0 %"],
    ]


def test_largest_clusters_warn_where_they_should(page: Page) -> None:
    shown = page.sections["clusters"]
    assert shown.index("812 documents: page-not-found") < shown.index("40 documents: news/17")
    assert "404. There is no such page." in shown
    assert "Very large, 2.2 % of all documents" in shown
    assert "Its lowest resemblance, 0.6200, is below the threshold 0.8." in shown
    assert shown.count("▲") == 2  # none for news/17


def test_pairs_nearest_the_threshold_come_first_with_differences_marked(page: Page) -> None:
    below = page.sections["below"]
    assert below.index("a-2") < below.index("a-3")
    assert "0.7999 resemblance" in below  # 0.79999 must not look like 0.8
    assert "88.0 % of the left text is in the right one, 70.0 % of the right in the left." in below
    legends = {"marked like this", "like this"}
    assert {text.strip() for text in page.elements["del"]} - legends == {"five", "moon"}
    assert {text.strip() for text in page.elements["ins"]} - legends == {"six", "grey"}


def test_containment_is_the_score_where_the_threshold_is_on_it() -> None:
    run = {**RUN, "settings": {**RUN["settings"], "measure": "containment"}}
    pairs = [
        PairSample("far", "b", "x y", "x z", 0.21, 0.95, 0.2),
        PairSample("near", "b", "x y", "x z", 0.3, 0.81, 0.3),
    ]
    page = read_page(filled(run=run, above=pairs))
    above = page.sections["above"]
    assert above.index("near") < above.index("far")
    assert "0.8100 containment" in above and "Resemblance 0.3000." in above
    assert "threshold 0.8" not in page.sections["resemblance"]
    assert "is below the threshold" not in page.sections["clusters"]


def test_the_curve_marks_threshold_and_recall(page: Page) -> None:
    shown = page.sections["candidates"]
    assert "33 bands of 9 rows" in shown
    assert "A pair exactly at the threshold 0.8 becomes one with probability 0.9914 (0.99 was requested)" in shown
    assert "requested recall: 0.99" in shown and "threshold 0.8" in shown
    assert cells(page, "candidates")[5] == ["0.5", "0.0625"]
    assert "not met" not in page.sections["top"]


def test_a_recall_that_is_not_met_is_said_on_top() -> None:
    run = {**RUN, "s_curve": {**RUN["s_curve"], "recall": 0.9}}
    assert "The requested recall is not met" in read_page(filled(run=run)).sections["top"]


def test_stages_settings_inputs_guesses(page: Page) -> None:
    assert cells(page, "stages")[1:] == [
        ["read", "1.9 s", "270 MB", "412 MB"],
        ["group", "620 ms", "40 MB", "611 MB"],
        ["the whole run", "4.4 s", "611 MB"],
    ]
    assert "The run was given 2 threads and 4 GB of memory." in page.sections["stages"]
    settings = dict(row for row in cells(page, "settings") if len(row) == 2)
    assert settings["threshold"] == "0.8"
    assert settings["keep"] == "newest, longest"
    assert settings["main_text"] == "no" and settings["bands"] == "–"
    assert "crawl-2.jsonl.gz" in page.sections["settings"]
    assert "the text is in the column body" in page.sections["guesses"]


def test_many_inputs_are_counted_not_listed() -> None:
    shown = read_page(filled(run={**RUN, "inputs": [f"part-{n}" for n in range(5_000)]})).sections["settings"]
    assert "part-11" in shown and "part-12" not in shown and "and 4,988 more" in shown


@pytest.mark.parametrize(("section", "field"), SECTIONS.items())
def test_a_section_is_there_just_when_its_data_are(section: str, field: str) -> None:
    full = read_page(filled())
    without = read_page(filled(**{field: ((), ()) if field == "resemblance" else ()}))
    link = {"href": f"#{section}"}
    assert section in full.sections and ("a", link) in full.tags
    assert section not in without.sections and ("a", link) not in without.tags


@pytest.mark.parametrize("section", ["candidates", "stages", "guesses"])
def test_a_section_of_the_run_is_there_just_when_run_json_has_it(section: str) -> None:
    key = {"candidates": "s_curve"}.get(section, section)
    page = read_page(filled(run={k: v for k, v in RUN.items() if k != key}))
    assert section not in page.sections and ("a", {"href": f"#{section}"}) not in page.tags


def test_a_run_that_removes_nothing() -> None:
    counts = {"documents": 120, "kept": 120, "removed": 0, "clusters": 0, "bytes": 5_000, "removed_bytes": 0}
    page = read_page(RunData(run={**RUN, "counts": counts}, kinds=[("exact", 0)], by_source=[("a", 120, 0, 0)]))
    assert page.elements["h1"] == ["120 documents in, all kept: no duplicates were found at threshold 0.8."]
    assert {"kinds", "sizes", "resemblance", "sources", "clusters"}.isdisjoint(page.sections)
    assert "candidates" in page.sections and "100 %" in page.sections["top"]


@pytest.mark.parametrize(
    ("counts", "headline"),
    [
        ({}, "The run has no counts."),
        ({"documents": 0}, "No documents in: there was nothing to compare."),
        ({"documents": 1, "kept": 1, "removed": 0}, "1 document in, kept: no duplicates were found."),
        ({"documents": 2, "kept": 1, "removed": 1}, "2 documents in, 1 kept, 1 removed (50.0 %)."),
        ({"documents": "many"}, "The run has no counts."),
    ],
)
def test_runs_with_little_to_say(counts: dict[str, object], headline: str) -> None:
    assert read_page(RunData(run={"counts": counts})).elements["h1"] == [headline]


def test_methods_of_equality_have_no_threshold() -> None:
    run = {**RUN, "settings": {"method": "identical", "threshold": 0.8}, "s_curve": {}}
    page = read_page(filled(run=run))
    assert "threshold 0.8" not in page.text
    assert "candidates" not in page.sections


def test_the_page_does_not_depend_on_the_order_of_rows() -> None:
    full = filled()
    shuffler = random.Random(7)
    shuffled = {
        name: shuffler.sample(list(getattr(full, name)), len(getattr(full, name)))
        for name in ("by_source", "kinds", "largest", "below", "cluster_sizes")
    }
    assert render(filled(**shuffled)) == render(full)
