"""From verdicts to settings to the next run, over HTTP: on the bundled policies, judged by a rule."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import httpx
import pyarrow.parquet as pq
import pytest

import roughly
from roughly.service.application import create_app
from roughly.service.collection import served_collections
from roughly.service.collection.run_collection import RunCollection
from roughly.service.explorer import judge_page
from roughly.service.served_data import ServedData
from roughly.tools.judge.api import JudgedRun, draw_pairs, open_verdicts, pair_texts, texts_of_pairs
from roughly.tools.judge.request import DrawRequest
from service.in_process import PATIENT, client_of
from service.judged_run import EXAMPLES, chosen_by, judge_by, nearly_as_long, same_numbers, send, settled, shown
from service.page_elements import only_ours


@pytest.fixture
def run(tmp_path: Path) -> Path:
    roughly.dedupe(EXAMPLES, output=tmp_path / "out", threshold=0.7)
    return tmp_path / "out"


def test_round_the_loop(client: httpx.Client, run: Path, tmp_path: Path) -> None:
    assert "no pairs are drawn yet" in shown(client)
    assert send(client, "/judge/begin", judge="ann", pairs=60).status_code == 303
    assert settled(client)["drawn"] == 60
    assert "no pair is judged the same" in shown(client) and send(client, "/tune").status_code == 404
    opened = JudgedRun.open(run)
    drawn = open_verdicts(opened, opened.verdicts)
    texts = pair_texts(drawn, range(60))
    same_first = sorted(texts, key=lambda number: not nearly_as_long(*texts[number]))
    for number in same_first:
        verdict = "same" if nearly_as_long(*texts[number]) else "different"
        if verdict == "different" and number == next(n for n in same_first if not nearly_as_long(*texts[n])):
            assert "all judged pairs are the same" in shown(client)
        assert send(client, "/judge", judge="ann", pair=number, verdict=verdict).status_code == 303
    told = client.get("/tune.json").json()
    same = sum(nearly_as_long(*both) for both in texts.values())
    assert told["judged"]["same"] == same and told["judged"]["different"] == 60 - same and told["missing"] == []
    assert "Choose settings from these verdicts" in shown(client)

    told = chosen_by(client)
    (tmp_path / "labels.csv").write_text(client.get("/judge/verdicts.csv").text, encoding="utf-8")
    command = [sys.executable, "-m", "roughly", "tune", str(EXAMPLES), "--labels", str(tmp_path / "labels.csv")]
    command += ["--unlisted", "ignore", "--learn", "-o", str(tmp_path / "best.toml"), "--quiet"]
    subprocess.run(command, check=True, capture_output=True)
    by_command = (tmp_path / "best.toml").read_text(encoding="utf-8")
    assert client.get("/tune/settings.toml").text == by_command == run.with_name("out.tuned.toml").read_text("utf-8")
    scores = told["chosen"]["scores"]
    assert {"run", "settings", "verdict"} == set(scores) and scores["settings"]["intervals"]["f1"][0] < 1
    page = shown(client)
    assert "recommended" in page and f"{scores['run']['f1']:.3f}" in page and "highest F1" in page

    assert send(client, "/tune/run").status_code == 303
    told = settled(client)
    assert told["problem"] == "" and told["next_run"]["name"] == "out.tuned"
    again = roughly.dedupe(EXAMPLES, settings=tmp_path / "best.toml", output=tmp_path / "by-command")
    made = run.with_name("out.tuned")
    tables = [pq.read_table(folder / "documents.parquet") for folder in (made, tmp_path / "by-command")]
    assert tables[0].equals(tables[1])
    assert told["next_run"]["counts"]["kept"] == len(again.kept_ids)
    clusters = dict(zip(*(tables[0][name].to_pylist() for name in ("doc_id", "cluster_id")), strict=True))
    pairs = [(drawn.drawn.pairs[n], nearly_as_long(*texts[n])) for n in texts]
    agree = sum((clusters[one.left_id] == clusters[one.right_id]) == is_same for one, is_same in pairs)
    assert (told["next_run"]["agree"], told["next_run"]["of"]) == (agree, 60)
    page = shown(client)
    assert f"{agree} of 60" in page and "roughly serve out.tuned" in page

    with client_of(create_app(ServedData(run=run), PATIENT)) as later:  # a restart loses nothing
        assert settled(later) == told

    assert send(client, "/tune/show", which="next").headers["location"] == "/"
    assert client.get("/index.json").json()["name"] == "out.tuned" and client.get("/health").json()["ready"]
    for path in ("/", "/clusters", "/documents", "/threshold", "/judge", "/tune", "/decisions"):
        assert only_ours(client.get(path).text, path)
    assert "Show out again" in shown(client) and client.get("/tune.json").json()["chosen"] is None
    assert send(client, "/tune/show", which="first").status_code == 303
    assert client.get("/index.json").json()["name"] == "out" and settled(client) == told


def test_runs_that_are_shown_in_turn_are_opened_once(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judge_by(nearly_as_long, run, 20)
    opened = []

    class Counted(RunCollection):
        def __init__(self, folder: Path, *given: Any) -> None:
            opened.append(folder.name)
            super().__init__(folder, *given)

    monkeypatch.setattr(served_collections, "RunCollection", Counted)
    with client_of(create_app(ServedData(run=run), PATIENT)) as client:
        chosen_by(client)
        assert send(client, "/tune/run").status_code == 303 and settled(client)["next_run"]
        for which in ("next", "first") * 3:
            assert send(client, "/tune/show", which=which).status_code == 303
            assert client.get("/clusters").status_code == 200
    assert sorted(opened) == ["out", "out.tuned"]


def test_a_learned_verdict_is_shown_with_what_it_gets_wrong(client: httpx.Client, run: Path) -> None:
    judge_by(same_numbers, run, 200)
    told = chosen_by(client)
    assert told["chosen"]["is_learned"], told["chosen"]["scores"]
    study = told["chosen"]["study"]
    page = client.get("/tune").text
    text = only_ours(page, "/tune").text
    assert "A learned verdict is recommended" in text and all(one["comparison"] in text for one in study["weights"])
    wrong = [*study["wrongly_same"]["some"][:3], *study["missed"]["some"][:3]]
    assert wrong and page.count('class="card pair-card"') == len(wrong)
    links = [html.unescape(one) for one in re.findall(r'href="(/compare[^"]+)"', page)]
    assert len(links) == len(wrong) and all(client.get(one).status_code == 200 for one in links)
    assert send(client, "/tune/run").status_code == 303 and settled(client)["problem"] == ""
    assert JudgedRun.open(run.with_name("out.tuned")).learned


def test_a_goal_and_verdicts_that_change(client: httpx.Client, run: Path) -> None:
    judge_by(nearly_as_long, run, 60)
    told = chosen_by(client, precision="0.9", recall="")
    assert told["chosen"]["goal"] == "the highest recall with a precision of at least 0.9" and not told["judged_since"]
    assert send(client, "/judge", judge="ann", verdict="undo").status_code == 303
    assert client.get("/tune.json").json()["judged_since"] and "Verdicts have changed" in shown(client)
    for values, words in (
        ({"precision": "most"}, "precision must be a number"), ({"recall": "2"}, "recall must be"),
    ):  # fmt: skip
        answer = send(client, "/tune", **values)
        assert answer.status_code == 422 and words in html.unescape(answer.text).lower(), answer.text[-600:]
    assert settled(client)["chosen"] == told["chosen"]


def test_the_input_is_read_and_documents_are_kept_as_in_the_run(tmp_path: Path) -> None:
    words = [f"word{n}" for n in range(80)]
    rows = []
    for family in range(12):
        for version in range(4):
            text = " ".join(f"f{family}{word}" for word in words[: 80 - (12 if version == 3 else version)])
            rows.append({"key": f"f{family}/v{version}", "body": text, "text": "the same in all", "id": family})
    given = tmp_path / "documents.jsonl"
    given.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    out = tmp_path / "out"
    options: dict[str, Any] = {"text_column": "body", "id_column": "key", "keep": "first", "pairs": "all"}
    roughly.dedupe(given, output=out, threshold=0.6, **options)
    judge_by(lambda left, right: abs(len(left) - len(right)) < 60, out)
    with client_of(create_app(ServedData(run=out), PATIENT)) as client:
        chosen_by(client)
        assert send(client, "/tune/run").status_code == 303
        assert settled(client)["problem"] == ""
    made, before = (JudgedRun.open(folder).run_json for folder in (tmp_path / "out.tuned", out))
    assert made["settings"]["keep"] == ["first"] and made["settings"]["pairs"] == "all"
    assert made["reading"]["options"] == before["reading"]["options"]
    assert made["counts"]["documents"] == 48


def test_pairs_are_drawn_in_the_background(client: httpx.Client, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    going = threading.Event()

    def slow(*given: Any, listener: Any, **more: Any) -> Any:
        while not going.wait(0.01):
            listener.advanced(None)
        return draw_pairs(*given, **more)

    monkeypatch.setattr(judge_page, "draw_pairs", slow)
    assert send(client, "/judge/begin", judge="ann", pairs=30).status_code == 303
    page = only_ours(client.get("/judge").text, "/judge").text
    assert "Pairs are being drawn from out" in page and "Draw pairs and begin" not in page
    assert client.get("/judge.json").json()["working"]["what"] == "draw"
    assert send(client, "/tune/stop").headers["location"] == "/judge" and settled(client)["drawn"] == 0
    assert "it was stopped" in only_ours(client.get("/judge").text, "/judge").text
    going.set()
    assert send(client, "/judge/begin", judge="ann", pairs=30).status_code == 303
    assert settled(client)["drawn"] == 30 and client.get("/judge.json").json()["problem"] == ""


def test_texts_of_the_next_pairs_are_read_with_the_first(
    client: httpx.Client, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = JudgedRun.open(run)
    verdicts = draw_pairs(opened, opened.verdicts, DrawRequest(pairs=25))
    right, readings = pair_texts(verdicts, range(25)), []

    def counted(*given: Any) -> Any:
        readings.append(len(given[1]))
        return texts_of_pairs(*given)

    monkeypatch.setattr(judge_page, "texts_of_pairs", counted)
    for done in range(25):
        page = only_ours(client.get("/judge").text, "/judge").text
        assert " and ".join(f"{len(text):,}" for text in right[done]) in page.replace(" characters", ""), done
        assert send(client, "/judge", pair=done, verdict="different").status_code == 303
    assert readings == [10, 10, 5]
    send(client, "/judge", verdict="undo")
    assert client.get("/judge.json").json()["pair"]["number"] == 24
