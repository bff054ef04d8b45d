"""`tokens=dom`: pages are compared by tags, ids, names and classes, the same by batch runs, indexes and tuning."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks.application_pages import pages
from click.testing import CliRunner

import roughly
from roughly import Index
from roughly.cli.app import app
from roughly.errors import SettingsError
from roughly.settings import Settings
from roughly.signing.sign_files import sign

PAGES = pages(views=6, states=4)
ASKED: dict[str, Any] = {"tokens": "dom", "markup": "html", "threshold": 0.4, "shingle_size": 3}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "pages.jsonl"
    path.write_text("".join(json.dumps(page) + "\n" for page in PAGES), encoding="utf-8")
    return path


def views_of(documents: Any) -> set[frozenset[str]]:
    found: dict[str, set[str]] = {}
    for row in documents.to_pylist():
        found.setdefault(row["cluster_id"], set()).add(row["doc_id"])
    return {frozenset(own) for own in found.values()}


def test_pages_of_one_view_are_the_same_whatever_they_show(source: Path) -> None:
    by_view = {frozenset(f"{view}-{state}" for state in range(4)) for view in range(6)}
    by_dom = roughly.dedupe(source, **ASKED, cluster="components", threads=1)
    assert views_of(by_dom.documents.to_arrow()) == by_view
    assert by_dom.summary["counts"]["not_html"] == 0
    by_words = roughly.dedupe(source, markup="html", threshold=0.4, shingle_size=3, cluster="components", threads=1)
    assert views_of(by_words.documents.to_arrow()) != by_view and "not_html" not in by_words.summary["counts"]


def test_an_index_gives_the_pairs_of_the_run(source: Path, tmp_path: Path) -> None:
    expected = roughly.dedupe(source, **ASKED, pairs="all", threads=1).pairs.to_arrow()
    with Index.create(tmp_path / "a.db", Settings(**ASKED)) as index:
        index.add([{"doc_id": page["id"], "text": page["text"], "markup": True} for page in PAGES])
        found = index.pairs()
    names = ["left_id", "right_id", "resemblance"]
    assert found.select(names).to_pylist() == expected.select(names).to_pylist() != []
    results = [{"text": page["text"], "markup": True} for page in PAGES]
    assert len(roughly.group_results(results, settings=Settings(**ASKED)).groups) < len(PAGES)


def test_texts_that_are_no_html_are_compared_by_their_words(tmp_path: Path) -> None:
    rows = [
        {"id": name, "text": text} for name, text in (("a", "one two three"), ("b", "four five"), ("c", "Four, five"))
    ]
    for markup in ("auto", "html"):
        found = roughly.dedupe(rows, tokens="dom", markup=markup, threads=1)
        assert found.kept_ids == ["a", "c"]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    printed = CliRunner().invoke(app, ["dedupe", str(path), "--tokens", "dom", "-o", str(tmp_path / "out")])
    assert "no HTML     3 documents, compared by words" in printed.stdout, printed.output


def test_impossible_settings_are_refused_and_others_have_their_fingerprints(source: Path, tmp_path: Path) -> None:
    assert "tokens" not in Settings().to_dict()
    assert Settings(tokens="dom").fingerprint() != Settings().fingerprint()
    assert Settings.from_dict(Settings(tokens="dom").to_dict()) == Settings(tokens="dom")
    for more in ({"main_text": True}, {"markup": "none"}, {"features": "items"}):
        with pytest.raises(SettingsError, match=f"leave {next(iter(more))} out"):
            Settings(tokens="dom", **more)  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="tokens must be one of words, dom"):
        Settings(tokens="tags")
    with pytest.raises(SettingsError, match="signatures are made of words"):
        sign(source, output=tmp_path / "a.sig", method="minhash", tokens="dom")


def test_tune_tries_the_dom_of_html_and_writes_settings_for_it(source: Path, tmp_path: Path) -> None:
    best = tmp_path / "best.toml"
    asked = ["tune", str(source), "--label-column", "view", "--methods", "minhash", "--threads", "1"]
    printed = CliRunner().invoke(app, [*asked, "--markup", "html", "-o", str(best), "--json"])
    found = json.loads(printed.stdout)
    assert found["settings"]["tokens"] == "dom" and found["unseen"]["f1"] > 0.9, printed.output
    assert 'tokens = "dom"' in best.read_text(encoding="utf-8")
    run = roughly.dedupe(source, settings=best, threads=1)
    assert run.summary["counts"]["removed"] > 12
    texts = tmp_path / "texts.jsonl"
    texts.write_text(
        "".join(json.dumps({"text": f"word{n} {n}", "view": "x"}) + "\n" for n in range(4)), encoding="utf-8"
    )
    asked[1] = str(texts)
    refused = CliRunner().invoke(app, [*asked, "--try", "tokens=dom"])
    assert "tokens=dom needs HTML" in str(refused.exception)


def test_judges_see_words_and_compare_explains_the_dom(source: Path, tmp_path: Path) -> None:
    verdict = "probability=0.5 prior=-6 words=9/0 shingles=4/0"
    settings = tmp_path / "s.toml"
    settings.write_text(f'tokens = "dom"\nthreshold = 0.2\nshingle_size = 2\nverdict = "{verdict}"\n', encoding="utf-8")
    roughly.dedupe(source, settings=settings, markup="html", output=tmp_path / "out", threads=1)
    shown = CliRunner().invoke(app, ["judge", str(tmp_path / "out"), "--judge", "ann", "--pairs", "4"], input="q\n")
    assert "Imprint" in shown.stdout and "footer legal" not in shown.stdout, shown.output
    for name, page in zip("ab", PAGES, strict=False):
        (tmp_path / f"{name}.html").write_text(page["text"], encoding="utf-8")
    files = [str(tmp_path / "a.html"), str(tmp_path / "b.html")]
    compared = json.loads(CliRunner().invoke(app, ["compare", *files, "--settings", str(settings), "--json"]).stdout)
    assert compared["resemblance"] > 0.4 and "footer legal" in compared["diff"][-1]["text"]
