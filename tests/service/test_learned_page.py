"""Pages of a run and of an index with a learned verdict: its weights, and why it says what it says of two documents."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

import roughly
from notices import SETTINGS, WEEK
from roughly import Index, Settings
from roughly.cluster.verdict_reasons import explain_verdict
from roughly.service.application import create_app
from roughly.service.served_data import ServedData
from roughly.verdict import COMPARISONS
from service.in_process import PATIENT, client_of
from service.page_elements import only_ours

VERDICT = "probability=0.5 prior=-5 words=5/0 numbers=2/1"


def test_the_pair_page_shows_the_reasons(tmp_path: Path) -> None:
    base = [f"word{n}" for n in range(40)]
    texts = {name: " ".join([*base, *more]) for name, more in (("a", ["17"]), ("b", ["17", "new"]), ("c", ["99"]))}
    rows = "".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in texts.items())
    given = tmp_path / "documents.jsonl"
    given.write_text(rows, encoding="utf-8")
    settings = {"threshold": 0.2, "shingle_size": 2, "verdict": VERDICT}
    roughly.dedupe(given, output=tmp_path / "out", **settings)
    with (
        Index.import_run(tmp_path / "out", tmp_path / "a.db") as index,
        client_of(create_app(ServedData(run=tmp_path / "out", index=index), PATIENT)) as client,
    ):
        for where in ("run", "index"):
            twin = client.get(f"/index.json?in={where}").json()["verdict"]
            assert (twin["prior"], twin["probability"], twin["threshold"]) == (-5, 0.5, 0.2)
            assert list(twin["weights"].items()) == [("words", 5), ("numbers", 3)], "what adds most comes first"
            shown = only_ours(client.get(f"/?in={where}").text, where).text
            assert "What the learned verdict weighs" in shown and COMPARISONS["numbers"] in shown and "+3.00" in shown
        for other, says in (("b", "the same"), ("c", "different")):
            reasons = explain_verdict(texts["a"], texts[other], Settings(**settings))  # type: ignore[arg-type]
            assert reasons.same == (says == "the same")
            for where in ("run", "index"):
                url = f"left=a&right={other}&in={where}"
                twin = client.get(f"/compare.json?{url}").json()["verdict"]
                assert twin == json.loads(json.dumps(reasons.to_dict()))
                shown = only_ours(client.get(f"/compare?{url}").text, url).text
                assert "The learned verdict" in shown and f"{reasons.needed:g} is needed: {says}" in shown
                assert all(f"{at:+.2f}" in shown for _, at in reasons.steps)


def test_the_pair_page_shows_what_is_known_of_documents(tmp_path: Path) -> None:
    text = "the library is closed today"
    rows = [
        {"id": n, "text": text, "date": day} for n, day in (("a", "2024-03-01"), ("b", "2024-03-04"), ("c", "2025"))
    ]
    given = tmp_path / "documents.jsonl"
    given.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    roughly.dedupe(given, output=tmp_path / "out", **SETTINGS, verdict=WEEK)
    with (
        Index.import_run(tmp_path / "out", tmp_path / "a.db") as index,
        client_of(create_app(ServedData(run=tmp_path / "out", index=index), PATIENT)) as client,
    ):
        for where in ("run", "index"):
            for other, value, same in (("b", 1 / 1.1, True), ("c", 1 / (1 + 306 / 30), False)):
                url = f"left=a&right={other}&in={where}"
                twin = client.get(f"/compare.json?{url}").json()["verdict"]
                found = {one["comparison"]: one["value"] for one in twin["reasons"]}
                assert (
                    found["days"] == pytest.approx(value, abs=1e-9) and twin["same"] == same and "unknown" not in twin
                )
                shown = only_ours(client.get(f"/compare?{url}").text, url).text
                assert "days" in shown and "one text to the method" not in shown


def test_pairs_judged_in_the_browser_are_labels_to_learn_from(tmp_path: Path) -> None:
    base = [f"word{n}" for n in range(40)]
    rows = [{"id": f"d{n}", "text": " ".join([*base, *(f"more{n}x{k}" for k in range(4 * n))])} for n in range(4)]
    given = tmp_path / "documents.jsonl"
    given.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    roughly.dedupe(given, output=tmp_path / "out", threshold=0.6, pairs="all")
    with client_of(create_app(ServedData(run=tmp_path / "out", index=None), PATIENT)) as client:
        page = client.get("/judge").text

        def send(where: str, **values: object) -> None:
            field = re.search(r'name="csrf" value="([^"]+)"', page)
            assert field and client.post(where, data={"csrf": field[1], "judge": "ann", **values}).status_code < 400

        send("/judge/begin", pairs=4)
        while client.get("/judge.json").json()["working"]:
            time.sleep(0.1)
        for verdict in ("same", "different"):
            assert 'href="/tune">Choose' not in client.get("/judge?judge=ann").text, (
                "one kind of verdict teaches nothing"
            )
            number = client.get("/judge.json?judge=ann").json()["pair"]["number"]
            send("/judge", pair=number, verdict=verdict)
        assert 'href="/tune">Choose settings from these verdicts' in client.get("/judge?judge=ann").text
        labels = tmp_path / "verdicts.csv"
        labels.write_text(client.get("/judge/verdicts.csv").text, encoding="utf-8")
    found = roughly.tune(given, labels=labels, methods=["minhash"], learn=True)
    assert "1 pair labelled the same, 1 labelled different" in found.counted.replace("pairs", "pair")
    assert any("not learnt from 1 true set;" in warning for warning in found.warnings)
