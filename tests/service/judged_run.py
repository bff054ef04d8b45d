"""A run of the bundled policies that is judged by a rule, and what the tests of `/tune` say and read."""

from __future__ import annotations

import html
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from roughly.tools.judge.api import JudgedRun, draw_pairs, pair_texts
from roughly.tools.judge.judge_session import JudgeSession
from roughly.tools.judge.request import DrawRequest
from service.page_elements import only_ours

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "policies.jsonl.gz"
Rule = Callable[[str, str], bool]


def nearly_as_long(left: str, right: str) -> bool:
    """A rule in place of a person."""
    return abs(len(left) - len(right)) <= 0.15 * max(len(left), len(right))


def same_numbers(left: str, right: str) -> bool:
    """A rule that one threshold cannot follow."""
    one, other = (set(re.findall(r"\b\d{1,5}\b", text)) for text in (left, right))
    return one == other and abs(len(left) - len(right)) <= 0.05 * max(len(left), len(right))


def judge_by(rule: Rule, run: Path, pairs: int = 100, leave: int = 0, judge: str = "ann") -> None:
    """Verdicts on a run, as the page /judge stores them; the last pairs are left."""
    opened = JudgedRun.open(run)
    verdicts = draw_pairs(opened, opened.verdicts, DrawRequest(pairs=pairs))
    session = JudgeSession(verdicts, judge)
    texts = pair_texts(verdicts, session.asked)
    for pair in session.left()[: pairs - leave]:
        session.say("same" if rule(*texts[pair]) else "different")


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
