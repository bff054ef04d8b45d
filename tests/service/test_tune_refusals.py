"""What `/tune` refuses, stops and leaves out, over HTTP; and who may use it."""

from __future__ import annotations

import html
import json
import shutil
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from serving_process import ADMIN, READ, WRITE, serving

import roughly
from roughly.service.application import create_app
from roughly.service.explorer import tune_page
from roughly.service.served_data import ServedData
from roughly.service.service_config import ServiceConfig
from roughly.tools.judge.next_run import next_folder
from roughly.tools.tune.learn import too_few_to_learn
from roughly.tools.tune.request import NEEDS_SCIPY
from service.in_process import PATIENT, client_of
from service.judged_run import EXAMPLES, chosen_by, judge_by, nearly_as_long, send, settled, shown

GUARDED = ServiceConfig(read_tokens=frozenset({READ}), write_tokens=frozenset({WRITE}), admin_tokens=frozenset({ADMIN}))
Rule = Callable[[str, str], bool]


@pytest.fixture(scope="module")
def tuned_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with settings chosen for it."""
    folder = tmp_path_factory.mktemp("tuned")
    roughly.dedupe(EXAMPLES, output=folder / "out", threshold=0.7)
    judge_by(nearly_as_long, folder / "out", 20)
    with client_of(create_app(ServedData(run=folder / "out"), PATIENT)) as client:
        chosen_by(client)
    return folder / "out"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    roughly.dedupe(EXAMPLES, output=tmp_path / "out", threshold=0.7)
    return tmp_path / "out"


def test_choosing_needs_the_right_to_write(run: Path) -> None:
    judge_by(nearly_as_long, run, 20)
    with serving(ServedData(run=run), GUARDED) as http:
        for path in ("/tune", "/tune/run", "/tune/stop", "/tune/show"):
            assert http.post(path, data={"which": "next"}).status_code in (303, 401), path
            refused = http.post(path, data={"which": "next"}, headers={"authorization": f"Bearer {READ}"})
            assert refused.status_code == 403, path
        reader = http.get("/tune", headers={"authorization": f"Bearer {READ}"})
        assert reader.status_code == 200 and 'method="post"' not in reader.text
        assert not run.with_name("out.tuned.json").exists()
        http.cookies.clear()
        assert http.post("/tune", headers={"authorization": f"Bearer {WRITE}"}).status_code == 303


def test_other_sites_and_forms_without_the_field_are_refused(client: httpx.Client, run: Path) -> None:
    judge_by(nearly_as_long, run, 20)
    client.get("/tune")
    for path in ("/tune", "/tune/run", "/tune/stop", "/tune/show"):
        assert client.post(path, data={"which": "next"}).status_code == 403
        assert client.post(path, headers={"origin": "https://evil.example"}).status_code == 403
    assert not run.with_name("out.tuned.json").exists()


def test_what_cannot_be_done_is_refused_in_words(client: httpx.Client, run: Path) -> None:
    for path, values, status, words in (
        ("/tune", {}, 404, "no pairs are drawn yet"), ("/tune/run", {}, 404, "no settings are chosen yet"),
        ("/tune/show", {"which": "next"}, 404, "no settings are chosen yet"),
        ("/tune/show", {"which": "../other"}, 422, "which must be next or first"),
    ):  # fmt: skip
        answer = send(client, path, **values)
        assert answer.status_code == status and words in html.unescape(answer.text).lower(), (path, answer.text[-600:])
    assert client.get("/tune/settings.toml").status_code == 404
    run.with_name("out.tuned.json").write_text('{"format": "other"}', encoding="utf-8")
    assert "out.tuned.json cannot be read (it has another format)" in shown(client)
    answer = send(client, "/tune/run")
    assert answer.status_code == 422 and "choose settings again" in answer.text.lower()


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2], lambda text: "", lambda text: "[]", lambda text: "[" * 100_000,
        lambda text: text.replace('"same": ', '"same": 1'), lambda text: text.replace('"scores": {', '"scores": [{'),
        lambda text: text.replace('"goal"', '"aim"'), lambda text: text.replace("roughly-tuned", "roughly-verdicts"),
    ],
)  # fmt: skip
def test_a_damaged_record_is_refused_and_another_choice_replaces_it(
    tuned_run: Path, tmp_path: Path, damage: Callable[[str], str]
) -> None:
    for path in tuned_run.parent.iterdir():
        if path.is_dir():
            shutil.copytree(path, tmp_path / path.name)
        else:
            shutil.copy(path, tmp_path / path.name)
    record = tmp_path / "out.tuned.json"
    record.write_text(damage(record.read_text(encoding="utf-8")), encoding="utf-8")
    with client_of(create_app(ServedData(run=tmp_path / "out"), PATIENT)) as client:
        told = client.get("/tune.json").json()
        assert "cannot be read" in told["problem"] and told["chosen"] is None and str(tmp_path) not in shown(client)
        assert chosen_by(client)["problem"] == ""


def test_without_scipy_settings_are_chosen_and_the_page_says_what_is_missing(
    client: httpx.Client, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge_by(nearly_as_long, run, 60)
    monkeypatch.setitem(sys.modules, "scipy", None)
    assert NEEDS_SCIPY in shown(client)
    told = chosen_by(client)
    assert "verdict" not in told["chosen"]["scores"] and told["chosen"]["settings"]
    assert "settings without a learned verdict" in shown(client)


def test_few_verdicts_are_remarked_on_in_the_words_of_the_command(client: httpx.Client, run: Path) -> None:
    judge_by(lambda left, right: left == right, run, 12)
    told = client.get("/tune.json").json()
    assert told["judged"]["sets"] < 5 and told["remarks"][0] == too_few_to_learn(told["judged"]["sets"])
    assert too_few_to_learn(told["judged"]["sets"]) in chosen_by(client)["chosen"]["warnings"]
    assert too_few_to_learn(told["judged"]["sets"])[1:] in shown(client)


def test_where_no_setting_reaches_the_goal_nothing_can_be_run(client: httpx.Client, run: Path) -> None:
    judge_by(lambda left, right: len(left) % 2 == len(right) % 2, run, 60)
    told = chosen_by(client, precision="1", recall="1")
    assert told["chosen"]["settings"] is None and not run.with_name("out.tuned.toml").exists()
    assert "No setting reaches the goal" in shown(client) and "Run with these settings" not in shown(client)
    assert send(client, "/tune/run").status_code == 404


def test_one_at_a_time_and_it_can_be_stopped(client: httpx.Client, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judge_by(nearly_as_long, run, 20)
    began = threading.Event()

    def endless(*given: Any, listener: Any, **more: Any) -> None:
        from roughly.meter import Meter

        with Meter(listener).stage("tune", 100, "steps") as stage:
            began.set()
            while True:
                time.sleep(0.01)
                listener.advanced(stage)

    monkeypatch.setattr(tune_page, "tune_on_verdicts", endless)
    assert send(client, "/tune").status_code == 303 and began.wait(10)
    working = client.get("/tune.json").json()["working"]
    assert (working["what"], working["run"], working["doing"]) == ("tune", "out", "measuring")
    assert "measuring" in shown(client) and "HX-Refresh" not in client.get("/tune/state").headers
    for path, values in (("/tune", {}), ("/tune/show", {"which": "first"})):
        again = send(client, path, **values)
        assert again.status_code == 422 and "already at work" in again.text
    assert send(client, "/tune/stop").status_code == 303
    told = settled(client)
    assert "it was stopped" in told["problem"] and told["chosen"] is None and "it was stopped" in shown(client)
    assert client.get("/tune/state").headers["HX-Refresh"] == "true"


def test_a_run_that_is_stopped_leaves_nothing(client: httpx.Client, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judge_by(nearly_as_long, run, 20)
    before = chosen_by(client)

    class Impatient(tune_page.StoppableProgress):
        def started(self, stage: Any) -> None:
            if stage.name == "write":
                self.stopping.set()
            super().started(stage)

    monkeypatch.setattr(tune_page, "StoppableProgress", Impatient)
    assert send(client, "/tune/run").status_code == 303
    told = settled(client)
    assert "it was stopped" in told["problem"] and told["next_run"] is None and told["chosen"] == before["chosen"]
    assert {path.name for path in run.parent.iterdir()} == {
        "out", "out.verdicts.jsonl", "out.tuned.json", "out.tuned.toml",
    }  # fmt: skip


def test_the_end_of_the_service_ends_the_work(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judge_by(nearly_as_long, run, 20)

    def endless(*given: Any, listener: Any, **more: Any) -> None:
        while True:
            time.sleep(0.01)
            listener.advanced(None)

    monkeypatch.setattr(tune_page, "tune_on_verdicts", endless)
    with client_of(create_app(ServedData(run=run), PATIENT)) as client:
        assert send(client, "/tune").status_code == 303
    assert not [thread for thread in threading.enumerate() if thread.name == "choose settings"]


def test_a_problem_names_no_folder(tmp_path: Path) -> None:
    given = tmp_path / "documents.jsonl.gz"
    given.write_bytes(EXAMPLES.read_bytes())
    roughly.dedupe(given, output=tmp_path / "out", threshold=0.7)
    judge_by(nearly_as_long, tmp_path / "out", 20)
    with client_of(create_app(ServedData(run=tmp_path / "out"), PATIENT)) as client:
        assert client.get("/tune.json").json()["missing"] == []
        given.write_bytes(b"no archive")
        assert send(client, "/tune").status_code == 303
        told = settled(client)
        assert "documents.jsonl.gz" in told["problem"] and str(tmp_path) not in told["problem"], told["problem"]


def test_runs_of_features_and_against_an_archive_are_refused(tmp_path: Path) -> None:
    words = [f"word{n}" for n in range(40)]
    rows = [{"id": f"{n}", "text": " ".join(words[: 40 - n % 3]), "tags": words[: 9 - n % 2]} for n in range(6)]
    given = tmp_path / "documents.jsonl"
    given.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    roughly.dedupe(given, output=tmp_path / "tags", features="tags")
    with roughly.Index.create(tmp_path / "a.db") as index:
        index.add([{"doc_id": "old", "text": rows[0]["text"]}])
    roughly.dedupe(given, output=tmp_path / "new", against=tmp_path / "a.db")
    for name, words_of in (("tags", "compares features"), ("new", "compared with an archive")):
        with client_of(create_app(ServedData(run=tmp_path / name), PATIENT)) as client:
            assert words_of in shown(client) and send(client, "/tune").status_code == 404


def test_a_run_that_people_judged_is_never_replaced(tmp_path: Path) -> None:
    out, first = tmp_path / "out", tmp_path / "out.tuned"
    assert next_folder(out) == first and next_folder(first).name == "out.tuned2"
    (tmp_path / "out.tuned.verdicts.jsonl").touch()
    assert next_folder(out).name == "out.tuned2"
    (tmp_path / "out.tuned2.decisions.jsonl").touch()
    (tmp_path / "out.tuned3.tuned.json").touch()
    assert next_folder(out).name == "out.tuned4" and next_folder(tmp_path / "out.tuned4").name == "out.tuned5"
