"""Sweeps: versions of pages, lost ones found, copies, and how pages change."""

from __future__ import annotations

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from commands import run_roughly
from roughly import Index, Settings, Sweeps
from roughly.cli.app import app
from roughly.errors import InputMissing, SettingsError
from roughly.index.sweeps.lifetimes import LifeRecord
from roughly.index.sweeps.sweep import SweepWriter
from roughly.urls import canonical_url
from stream_texts import edited, prose

A, B = "http://a.org", "http://b.org"
FIRST = {
    f"{A}/same": prose(1), f"{A}/edited": prose(2), f"{A}/rewritten": prose(3), f"{A}/old-place": prose(4),
    f"{A}/to-b": prose(5), f"{A}/dies": prose(6), f"{B}/home": prose(7),
}  # fmt: skip
SECOND = {
    f"{A}/same": prose(1), f"{A}/edited": edited(prose(2), 1), f"{A}/rewritten": prose(33),
    f"{A}/new-place": prose(4), f"{B}/from-a": edited(prose(5), 2), f"{B}/home": prose(7), f"{B}/born": prose(8),
}  # fmt: skip
THIRD = {
    f"{A}/same": prose(1), f"{A}/edited": edited(prose(2), 1), f"{A}/rewritten": prose(33),
    f"{A}/third-place": edited(prose(4), 3), f"{B}/from-a": prose(55), f"{B}/home": prose(7), f"{A}/dies": prose(66),
}  # fmt: skip


@pytest.fixture
def swept(tmp_path: Path, crawl: Callable[..., Path]) -> Index:
    index = Index.create(tmp_path / "web.db", Settings(threshold=0.7))
    sweeps = Sweeps(index)
    for date, pages in (("2024-01-01", FIRST), ("2024-02-01", SECOND), ("2024-03-01", THIRD)):
        sweeps.add(crawl(f"{date}.warc.gz", pages), date=date)
    return index


def test_every_version_stays_and_a_page_that_did_not_change_is_stored_once(swept: Index) -> None:
    sweeps = Sweeps(swept)
    assert [(s.date, s.state, s.pages) for s in sweeps] == [
        ("2024-01-01", "done", 7), ("2024-02-01", "done", 7), ("2024-03-01", "done", 7)
    ]  # fmt: skip
    versions = sweeps.versions(f"{A}/edited")
    assert [page.date for page in versions] == ["2024-01-01", "2024-02-01", "2024-03-01"]
    assert versions[0].content != versions[1].content == versions[2].content
    assert swept.text(versions[0].doc_id) != swept.text(versions[1].doc_id)
    assert swept.stats().documents == 21 and swept.stats().contents == len(
        {*FIRST.values(), *SECOND.values(), *THIRD.values()}
    )


def test_every_page_is_counted_once_in_each_interval(swept: Index) -> None:
    found = Sweeps(swept).changes()
    for interval in found.intervals:
        kept = interval.unchanged + interval.changed + interval.moved
        assert interval.pages_before == kept + interval.died
        assert interval.pages_after == kept + interval.born
        assert sum(interval.resemblances) + interval.unmeasured == interval.changed
    one, two = found.intervals
    assert (one.unchanged, one.changed, one.moved_within, one.moved_between, one.died, one.born) == (2, 2, 1, 1, 1, 1)
    assert {(m.before, m.after) for m in one.moves} == {
        (f"{A}/old-place", f"{A}/new-place"), (f"{A}/to-b", f"{B}/from-a")
    }  # fmt: skip
    assert one.resemblances[9] == 1 and one.resemblances[0] == 1, "one page was edited, one rewritten"
    assert (two.unchanged, two.changed, two.moved_within, two.died, two.born, two.returned) == (4, 1, 1, 1, 1, 1)
    assert one.days == 31 and not found.unfinished
    assert (found.addresses, found.gone) == (11, 4)


def test_lifetimes_follow_moves_and_count_living_pages(swept: Index) -> None:
    """Eight pages: one was born and died within 29 days, one returned, two moved, and all but one still live."""
    found = Sweeps(swept).changes().lifetimes
    assert (found.pages, found.died, found.moved, found.longest_days) == (8, 1, 3, 60)
    (only,) = found.survival
    assert (only.days, only.at_risk, only.died, only.alive) == (29, 8, 1, 0.875)
    assert only.low < 0.875 < only.high and found.median_days is None


def test_lifetimes_are_those_of_the_textbook() -> None:
    """Kaplan–Meier by hand: deaths at 10 and 30 days, two pages that leave the study alive."""
    record = LifeRecord()
    record.add("2024-01-01", "abcd", [])
    record.add("2024-01-11", "bcd", [])  # a dies at the age of 10
    record.add("2024-01-21", "bcde", [])
    record.add("2024-01-31", "cdf", [("e", "f")])  # b dies at 30; e moves, and lives on
    found = record.lifetimes()
    assert [(s.days, s.at_risk, s.died) for s in found.survival] == [(10, 5, 1), (30, 3, 1)]
    assert [s.alive for s in found.survival] == pytest.approx([0.8, 0.8 * 2 / 3])
    assert found.survival[0].low == pytest.approx(0.2038, abs=1e-3)  # 0.8^exp(1.96·√(1/20)/|ln 0.8|)
    assert found.survival[0].high == pytest.approx(0.9692, abs=1e-3)
    assert found.median_days is None and found.median_low == 10
    record.add("2024-02-10", "f", [])
    assert record.lifetimes().median_days == 40
    record.add("2024-02-20", "cf", [])  # c was only away
    assert (record.lifetimes().died, record.lifetimes().survival[-1].at_risk) == (3, 2)


def test_the_resemblance_of_versions_is_that_of_their_texts(swept: Index) -> None:
    from roughly import resemblance

    wanted = [resemblance(FIRST[url], SECOND[url]) for url in (f"{A}/edited", f"{A}/rewritten")]
    assert Sweeps(swept).changes().intervals[0].mean_resemblance == pytest.approx(sum(wanted) / 2)


def test_a_lost_page_is_found_and_followed(swept: Index) -> None:
    sweeps = Sweeps(swept)
    found = sweeps.lost(f"{A}/old-place#top")
    assert not found.here and (found.first_seen, found.last_seen) == ("2024-01-01", "2024-01-01")
    assert found.found[0].url == f"{A}/third-place" and found.found[0].current and found.found[0].same_host
    moved = sweeps.lost(f"{A}/to-b").found
    assert [one.url for one in moved] == [f"{B}/from-a"]
    assert moved[0].current, "the address is there, although the page has changed since"
    assert moved[0].date == "2024-02-01" and not moved[0].same_host
    assert sweeps.lost(f"{A}/same").here
    assert sweeps.lost(f"{B}/born").found == ()
    with pytest.raises(InputMissing, match=r"no finished sweep .* has seen"):
        sweeps.lost(f"{A}/never")


def test_a_page_that_moved_twice_and_changed_is_followed_by_way_of_the_first_place(tmp_path: Path) -> None:
    index = Index.create(tmp_path / "web.db", Settings(threshold=0.7))
    sweeps = Sweeps(index)
    start, second = prose(1), edited(prose(1), 1, 3)
    third = edited(second, 2, 14)
    for date, url, text in (("2024-01-01", "1", start), ("2024-02-01", "2", second), ("2024-03-01", "2", third),
                            ("2024-04-01", "3", third)):  # fmt: skip
        sweeps.add([{"url": f"{A}/{url}", "text": text}], date=date)
    (near, far) = sorted(sweeps.lost(f"{A}/1").found, key=lambda one: one.url)
    assert (near.url, near.current, far.url, far.current, far.via) == (f"{A}/2", False, f"{A}/3", True, (f"{A}/2",))
    assert sweeps.lost(f"{A}/1").found[0] == far, "where it is now comes first"


def test_a_sweep_that_is_run_again_adds_nothing_twice(tmp_path: Path, crawl: Callable[..., Path]) -> None:
    index = Index.create(tmp_path / "web.db")
    half = SweepWriter(index, "2024-01-01")
    half.add([{"url": url, "text": text} for url, text in list(FIRST.items())[:3]])
    assert [sweep.state for sweep in Sweeps(index)] == ["open"]
    with pytest.raises(InputMissing, match="no finished sweep"):
        Sweeps(index).changes()
    path = crawl("a.warc.gz", FIRST)
    for _ in range(2):
        assert Sweeps(index).add(path, date="2024-01-01").pages == 7
        assert index.stats().documents == 7
    open_one = SweepWriter(index, "2024-02-01")
    open_one.add([{"url": f"{A}/same", "text": prose(1)}])
    found = Sweeps(index).changes()
    assert found.unfinished == ("2024-02-01",) and not found.intervals and not found.gone


def test_redo_takes_the_sweep_out_first_and_drop_for_good(tmp_path: Path) -> None:
    index = Index.create(tmp_path / "web.db")
    sweeps = Sweeps(index)
    sweeps.add([{"url": f"{A}/1", "text": prose(1)}, {"url": f"{A}/2", "text": prose(2)}], date="2024-01-01")
    assert sweeps.add([{"url": f"{A}/3", "text": prose(3)}], date="2024-01-01").pages == 3, "more files of one day"
    assert sweeps.add([{"url": f"{A}/3", "text": prose(3)}], date="1 Jan 2024", redo=True).pages == 1
    assert sweeps.drop("2024-01-01") == 1 and list(sweeps) == [] and index.stats().documents == 0


def test_errors_of_servers_are_no_pages_and_revisits_are(tmp_path: Path, crawl: Callable[..., Path]) -> None:
    index = Index.create(tmp_path / "web.db")
    sweeps = Sweeps(index)
    sweeps.add(crawl("1.warc.gz", {f"{A}/1": prose(1), f"{A}/2": prose(2)}), date="2024-01-01")
    again = crawl("2.warc.gz", {f"{A}/3": prose(3)}, gone={f"{A}/2": 404}, same=(f"{A}/1", f"{A}/unknown"))
    done = sweeps.add(again, date="2024-02-01")
    assert (done.pages, done.left_out, done.revisits, done.unresolved) == (2, 1, 2, 1)
    (interval,) = sweeps.changes().intervals
    assert (interval.unchanged, interval.died, interval.born) == (1, 1, 1)


def test_pages_without_an_address_are_rejected_and_the_rest_goes_in(tmp_path: Path) -> None:
    index = Index.create(tmp_path / "web.db")
    with pytest.warns(UserWarning, match="1 record was left out; .*has no url"):
        done = Sweeps(index).add([{"url": f"{A}/1", "text": prose(1)}, {"url": None, "text": "x"}], date="2024-01-01")
    assert (done.pages, done.rejected) == (1, 1)
    with pytest.raises(InputMissing, match=r"no page with an address .* 1 record was rejected"):
        Sweeps(index).add([{"url": "", "text": prose(1)}], date="2024-05-01")
    assert [sweep.date for sweep in Sweeps(index)] == ["2024-01-01"], "nothing is left of a sweep without pages"
    long = [{"url": f"{A}/{'x' * 3000}", "text": "x"}, {"url": f"{A}/2", "text": prose(2)}]
    with pytest.warns(UserWarning, match="its url has more than 1,989 bytes"):
        assert Sweeps(index).add(long, date="2024-01-01").pages == 2
    with pytest.raises(SettingsError, match="must be a day such as"):
        Sweeps(index).add([{"url": A, "text": "x"}], date="yesterday")


@pytest.mark.parametrize(
    "settings",
    [{"method": "shingles", "sketch": "all", "threshold": 0.8}, {"measure": "containment", "threshold": 0.8}],
)
def test_whole_and_partial_copies(tmp_path: Path, settings: dict[str, object]) -> None:
    index = Index.create(tmp_path / "web.db", Settings.gather(settings))
    ruling, other = prose(1, 200), prose(2, 200)
    part = " ".join(ruling.split()[:90])
    index.add(
        [
            {"doc_id": "ruling", "text": ruling, "url": f"{A}/ruling"},
            {"doc_id": "copy", "text": ruling, "url": f"{B}/copy"},
            {"doc_id": "quoted", "text": f"{other} {ruling} {prose(3)}", "url": f"{B}/quoted"},
            {"doc_id": "excerpt", "text": part, "url": f"{B}/excerpt"},
            {"doc_id": "unlike", "text": prose(9)},
        ]
    )
    found = Sweeps(index).copies(f"{A}/ruling")
    assert found.complete and found.of == "ruling"
    by_id = {copy.doc_id: copy for copy in found.found}
    assert set(by_id) == {"copy", "quoted", "excerpt"}
    assert by_id["copy"].kind == "whole" and by_id["copy"].resemblance == 1
    assert by_id["quoted"].kind == "whole" and by_id["quoted"].containment == 1
    assert 0.3 < (by_id["quoted"].contained_in or 0) < 0.5
    assert by_id["excerpt"].kind == "part" and by_id["excerpt"].contained_in == 1
    assert by_id["excerpt"].containment == pytest.approx(86 / 196)
    assert [copy.doc_id for copy in Sweeps(index).copies({"text": ruling}, limit=2).found] == ["copy", "ruling"]
    with pytest.raises(InputMissing, match="no document with the id or the url"):
        Sweeps(index).copies("nobody")
    with pytest.raises(SettingsError, match="minimum"):
        Sweeps(index).copies("copy", minimum=2)


@pytest.mark.parametrize("store", ["shingles", "sketch"])
@pytest.mark.parametrize("method", ["minhash", "imatch", "term-vector", "lexical"])
def test_sweeps_work_with_any_method_and_store(tmp_path: Path, method: str, store: str) -> None:
    index = Index.create(tmp_path / "web.db", Settings(method=method), store=store)
    sweeps = Sweeps(index)
    for date, pages in (("2024-01-01", FIRST), ("2024-02-01", SECOND)):
        sweeps.add([{"url": url, "text": text} for url, text in pages.items()], date=date)
    found = sweeps.changes()
    (interval,) = found.intervals
    assert (interval.unchanged, interval.changed) == (2, 2)
    assert (f"{A}/old-place", f"{A}/new-place") in {(move.before, move.after) for move in interval.moves}
    assert interval.unmeasured == (2 if store == "sketch" and method in ("imatch", "term-vector") else 0)
    assert found.estimated == (store == "sketch")
    assert sweeps.lost(f"{A}/old-place").found[0].url == f"{A}/new-place"
    assert not sweeps.copies(f"{A}/same").complete


def test_addresses_are_compared_in_one_form() -> None:
    assert canonical_url("HTTP://A.org:80") == "http://a.org/" == canonical_url(" http://a.org/#x ")
    assert canonical_url("https://a.org:8443/X?q=1#y") == "https://a.org:8443/X?q=1"
    assert canonical_url("http://[::1]:80/x") == "http://[::1]/x"
    assert canonical_url("http://a.org:port/x#y") == "http://a.org:port/x"
    assert canonical_url("not an address#x") == "not an address"


def test_the_commands(tmp_path: Path, crawl: Callable[..., Path]) -> None:
    where = str(tmp_path / "web.db")
    Index.create(where, Settings(threshold=0.7)).close()
    run = CliRunner().invoke
    for date, pages in (("2024-01-01", FIRST), ("2024-02-01", SECOND)):
        done = run(app, ["index", "sweep", where, str(crawl(f"{date}.warc.gz", pages)), "--date", date])
        assert done.exit_code == 0 and f"sweep       {date}, 7 pages" in done.output
    found = run(app, ["index", "lost", where, f"{A}/old-place"])
    assert found.exit_code == 0 and f"now at      {A}/new-place  2024-02-01  resemblance 1.000" in found.output
    assert run(app, ["index", "lost", where, f"{A}/dies"]).exit_code == 3
    told = json.loads(run(app, ["index", "changes", where, "--json"]).stdout)
    assert told["intervals"][0]["moved_between"] == 1
    plot = tmp_path / "changes.svg"
    table = run(app, ["index", "changes", where, "--plot", str(plot)])
    assert "2024-01-01  2024-02-01" in table.output and table.exit_code == 0
    root = ET.fromstring(plot.read_text(encoding="utf-8"))
    titles = [element.text for element in root.iter("{http://www.w3.org/2000/svg}title")]
    assert {"unchanged: 2", "changed: 2", "moved within a host: 1", "born: 1", "0.9 to 1: 1"} <= set(titles)
    listed = run(app, ["index", "copies", where, f"{A}/same"])
    assert f"whole\t1.000\t1.000\t{A}/same@2024-01-01\t{A}/same" in listed.output
    assert "note: this index may miss passages" in listed.output
    (tmp_path / "page.txt").write_text(prose(1), encoding="utf-8")
    listed = run(app, ["index", "copies", where, str(tmp_path / "page.txt"), "--file"])
    assert listed.output.count("whole") == 2 + listed.output.count("as a whole")


def test_a_sweep_that_was_killed_goes_on(tmp_path: Path) -> None:
    where, lines = tmp_path / "web.db", tmp_path / "pages.jsonl"
    Index.create(where).close()
    pages = [{"url": f"{A}/{n}", "text": prose(n)} for n in range(40)]
    lines.write_text("".join(json.dumps(page) + "\n" for page in pages), encoding="utf-8")
    code = (
        "import json, os, signal, sys\nfrom roughly import Index\nfrom roughly.index.sweeps.sweep import SweepWriter\n"
        "pages = [json.loads(line) for line in open(sys.argv[2])]\n"
        "writer = SweepWriter(Index.open(sys.argv[1]), '2024-01-01')\n"
        "writer.add(pages[:15])\nwriter.add(pages[15:20])\nos.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(where), str(lines)], check=False)
    assert done.returncode == -9
    with Index.open(where) as index:
        sweeps = Sweeps(index)
        assert [sweep.state for sweep in sweeps] == ["open"] and index.stats().documents == 20
        assert sweeps.add(lines, date="2024-01-01").pages == 40
        assert index.stats().documents == 40 and [sweep.state for sweep in sweeps] == ["done"]


def test_a_lost_page_is_found_in_a_longer_one_by_an_index_of_resemblance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page that was merged into one ten times as long is held by it, though the two hardly resemble each other."""
    with Index.create(tmp_path / "web.db", Settings(threshold=0.8)) as index:
        sweeps = Sweeps(index)
        sweeps.add([{"url": f"{A}/short", "text": prose(1)}], date="2024-01-01")
        whole = " ".join([*(prose(n) for n in range(10, 15)), prose(1), *(prose(n) for n in range(20, 24))])
        later = [{"url": f"{A}/whole", "text": whole}, {"url": f"{A}/other", "text": prose(30)}]
        sweeps.add(later, date="2024-02-01")
        answer = sweeps.lost(f"{A}/short")
        assert [one.url for one in answer.found] == [f"{A}/whole"] and answer.complete
        assert answer.found[0].containment == pytest.approx(1.0, abs=0.05)
        monkeypatch.setattr("roughly.index.sweeps.lost.SCANNED", 1)
        assert not sweeps.lost(f"{A}/short").complete


def test_an_index_of_sampled_shingles_does_not_claim_every_passage(tmp_path: Path) -> None:
    """Of a passage of forty words one shingle or two are sampled, or none."""
    passages = [prose(n, 40) for n in range(12)]
    rows = [{"url": f"{A}/{n}", "text": text} for n, text in enumerate(passages)]
    later = [
        {"url": f"{A}/whole-{n}", "text": f"{prose(50 + n)} {text} {prose(80 + n)}"} for n, text in enumerate(passages)
    ]
    for sketch, every in (("mod:25", False), ("all", True)):
        with Index.create(tmp_path / f"{every}.db", Settings.gather({"method": "shingles", "sketch": sketch})) as index:
            sweeps = Sweeps(index)
            sweeps.add(rows, date="2024-01-01")
            sweeps.add(later, date="2024-02-01")
            listed = [sweeps.copies(f"{A}/{n}") for n in range(12)]
            assert all(own.complete == every for own in listed)
            assert all(any(copy.kind == "whole" for copy in own.found) for own in listed) == every
            lost = [sweeps.lost(f"{A}/{n}") for n in range(12)]
            assert all(own.complete and [one.url for one in own.found] for own in lost)


def test_addresses_are_found_in_any_spelling(tmp_path: Path) -> None:
    with Index.create(tmp_path / "web.db") as index:
        Sweeps(index).add([{"url": "http://a.example/x", "text": prose(1)}], date="2024-01-01")
        for given in ("http://a.example/x", "HTTP://A.example:80/x#top", " http://a.example/x"):
            assert [entry.url for entry in index.by_url(given)] == ["http://a.example/x"]
        assert index.by_url("http://a.example/X") == []
        index.add({"id": "odd", "text": "stored under another spelling", "url": "HTTP://B.example:80/y#top"})
        for given in ("http://b.example/y", "HTTP://B.example:80/y#top", "http://b.example:80/y"):
            assert [entry.doc_id for entry in index.by_url(given)] == ["odd"]
        assert index.by_url("http://b.example/Y") == [] and index.by_url("http://b.example%/y") == []


def test_changes_as_json_has_the_curve(swept: Index, tmp_path: Path) -> None:
    swept.close()
    told = CliRunner().invoke(app, ["index", "changes", str(tmp_path / "web.db"), "--json"])
    assert json.loads(told.stdout)["lifetimes"]["survival"][0]["alive"] == 0.875
    told = CliRunner().invoke(app, ["index", "changes", str(tmp_path / "web.db")])
    assert "8 pages, 1 died, 3 moves; 88 % live longer than 29 days (95 % interval 39 % to 98 %)" in told.stdout


def test_show_leads_from_an_address_to_the_documents_of_its_cluster(tmp_path: Path) -> None:
    with Index.create(tmp_path / "web.db", Settings(threshold=0.7)) as index:
        pages = {"one": prose(1), "two": edited(prose(1), 1), "other": prose(2)}
        index.add([{"doc_id": name, "url": f"{A}/{name}", "text": text} for name, text in pages.items()])
    told = run_roughly("index", "show", tmp_path / "web.db", f"{A.upper()}/two#top".replace("HTTP", "http"))
    rows = [line.split("\t") for line in told.stdout.splitlines()[1:]]
    assert [(row[1], row[2], row[3]) for row in rows] == [("no", "one", f"{A}/one"), ("yes", "two", f"{A}/two")]
    found = json.loads(run_roughly("index", "show", tmp_path / "web.db", "other", "--json").stdout)
    assert [entry["doc_id"] for entry in found["documents"]] == ["other"] and len(found["clusters"]) == 1
    missing = run_roughly("index", "show", tmp_path / "web.db", "never")
    assert missing.returncode == 3 and "no document has the id or the url 'never'" in missing.stderr
