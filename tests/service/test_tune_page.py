"""From verdicts to settings to the next run, over HTTP: on the bundled policies, judged by a rule."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pyarrow.parquet as pq
import pytest
from serving_process import ADMIN, READ, WRITE, serving

import roughly
from roughly.service.application import create_app
from roughly.service.collection import served_collections
from roughly.service.collection.run_collection import RunCollection
from roughly.service.explorer import judge_page, tune_page
from roughly.service.served_data import ServedData
from roughly.service.service_config import ServiceConfig
from roughly.tools.judge.api import JudgedRun, draw_pairs, open_verdicts, pair_texts, texts_of_pairs
from roughly.tools.judge.judge_session import JudgeSession
from roughly.tools.judge.next_run import next_folder
from roughly.tools.judge.request import DrawRequest
from roughly.tools.tune.learn import too_few_to_learn
from roughly.tools.tune.request import NEEDS_SCIPY
from service.in_process import PATIENT, client_of
from service.page_elements import only_ours

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "policies.jsonl.gz"
GUARDED = ServiceConfig(read_tokens=frozenset({READ}), write_tokens=frozenset({WRITE}), admin_tokens=frozenset({ADMIN}))
Rule = Callable[[str, str], bool]


def nearly_as_long(left: str, right: str) -> bool:
    """A rule in place of a person."""
    return abs(len(left) - len(right)) <= 0.15 * max(len(left), len(right))


def same_numbers(left: str, right: str) -> bool:
    """A rule that one threshold cannot follow."""
    one, other = (set(re.findall(r"\b\d{1,5}\b", text)) for text in (left, right))
    return one == other and abs(len(left) - len(right)) <= 0.05 * max(len(left), len(right))


def judge_by(rule: Rule, run: Path, pairs: int = 100) -> None:
    """Verdicts on a run, as the page /judge stores them."""
    opened = JudgedRun.open(run)
    verdicts = draw_pairs(opened, opened.verdicts, DrawRequest(pairs=pairs))
    session = JudgeSession(verdicts, "ann")
    texts = pair_texts(verdicts, session.asked)
    while (pair := session.next()) is not None:
        session.say("same" if rule(*texts[pair]) else "different")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    roughly.dedupe(EXAMPLES, output=tmp_path / "out", threshold=0.7)
    return tmp_path / "out"


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
def client(run: Path) -> Iterator[httpx.Client]:
    with client_of(create_app(ServedData(run=run), PATIENT)) as client:
        yield client


def send(client: httpx.Client, path: str, **values: Any) -> httpx.Response:
    pages = (client.get(page).text for page in ("/judge", "/tune"))
    field = next(filter(None, (re.search(r'name="csrf" value="([^"]+)"', page) for page in pages)))
    return client.post(path, data={"csrf": html.unescape(field[1]), **values})


def settled(client: httpx.Client) -> dict[str, Any]:
    """The page as JSON, when nothing is under way."""
    until = time.monotonic() + 300
    while (told := client.get("/tune.json").json())["working"]:
        assert time.monotonic() < until
        time.sleep(0.1)
    return told


def shown(client: httpx.Client) -> str:
    page = client.get("/tune")
    assert page.status_code == 200
    return only_ours(page.text, "/tune").text


def chosen_by(client: httpx.Client, **values: Any) -> dict[str, Any]:
    assert send(client, "/tune", **values).status_code == 303
    told = settled(client)
    assert told["problem"] == "" and told["chosen"], told
    return told


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


def test_runs_that_are_shown_in_turn_are_opened_once(tuned_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []

    class Counted(RunCollection):
        def __init__(self, folder: Path, *given: Any) -> None:
            opened.append(folder.name)
            super().__init__(folder, *given)

    monkeypatch.setattr(served_collections, "RunCollection", Counted)
    with client_of(create_app(ServedData(run=tuned_run), PATIENT)) as client:
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
