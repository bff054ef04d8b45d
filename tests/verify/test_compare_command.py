"""`roughly compare` from the outside: files in, text or JSON out, exit codes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from commands import run_roughly
from roughly.verify import compare
from verify.texts import PARAGRAPH, STORY

PAGE = "<!DOCTYPE html><html><head><title>Rain</title><script>var x = 1;</script></head><body><p>{}</p></body></html>"


def run(*arguments: str | Path, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[Any]:
    plain: dict[str, Any] = {"FORCE_COLOR": None, "NO_COLOR": None, **environment}
    return run_roughly("compare", *arguments, stdin=stdin, text=False, **plain)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compare")
    (folder / "a.txt").write_text(STORY, "utf-8")
    (folder / "b.txt").write_text(STORY.replace("declined", "refused"), "utf-8")
    (folder / "page.html").write_text(PAGE.format(STORY.replace("Friday", "<b>Friday</b>")), "utf-8")
    (folder / "other.txt").write_text(PARAGRAPH, "utf-8")
    return folder


def test_a_screen_for_people(folder: Path) -> None:
    done = run(folder / "a.txt", folder / "b.txt", "--context", "2")
    shown = done.stdout.decode()
    assert done.returncode == 0
    scores = compare(STORY, STORY.replace("declined", "refused")).scores
    assert f"resemblance   {scores.resemblance:.4f}" in shown
    assert "kind          revision" in shown and "passages      1 in common" in shown
    assert "public works [-declined-] {+refused+} to comment […" in shown
    assert "\x1b" not in shown


def test_colours_where_asked_for(folder: Path) -> None:
    shown = run(folder / "a.txt", folder / "b.txt", FORCE_COLOR="1", TERM="xterm").stdout.decode()
    assert "\x1b[31m[-declined-]" in shown and "\x1b[32m{+refused+}" in shown


def test_json_alone_on_standard_output(folder: Path) -> None:
    done = run(folder / "a.txt", folder / "b.txt", "--json", "--shingle-size", "3")
    values = json.loads(done.stdout)
    expected = compare(STORY, STORY.replace("declined", "refused"), shingle_size=3).to_dict()
    assert values == {"left": str(folder / "a.txt"), "right": str(folder / "b.txt")} | expected
    short = json.loads(run(folder / "a.txt", folder / "b.txt", "--json", "--context", "1").stdout)
    assert [segment["kind"] for segment in short["diff"]] == ["gap", "equal", "delete", "insert", "equal", "gap"]


def test_html_is_stripped_by_its_name_or_when_told(folder: Path) -> None:
    def kind(*arguments: str | Path) -> object:
        return json.loads(run("--json", *arguments).stdout)["kind"]

    assert kind(folder / "page.html", folder / "a.txt") == "exact"
    assert kind(folder / "page.html", folder / "a.txt", "--markup", "none") != "exact"
    renamed = folder / "page.data"
    renamed.write_bytes((folder / "page.html").read_bytes())
    assert kind(renamed, folder / "a.txt") != "exact"
    assert kind(renamed, folder / "a.txt", "--markup", "html") == "exact"


def test_standard_input_is_one_of_the_two(folder: Path) -> None:
    done = run("-", folder / "a.txt", "--json", stdin=STORY.encode())
    assert json.loads(done.stdout)["kind"] == "exact"
    twice = run("-", "-", stdin=b"x")
    assert twice.returncode == 2 and b"only one of the two" in twice.stderr and twice.stdout == b""


@pytest.mark.parametrize(
    ("encoding", "mark"), [("utf-8", b"\xef\xbb\xbf"), ("utf-16-le", b"\xff\xfe"), ("cp1252", b"")]
)
def test_other_encodings_and_byte_order_marks(folder: Path, encoding: str, mark: bytes) -> None:
    text = "Le maire a été élu à la majorité après de longs débats, où chacun s’est exprimé sur le château. " * 5
    (folder / "plain.txt").write_text(text, "utf-8")
    coded = folder / "coded.txt"
    coded.write_bytes(mark + text.encode(encoding))
    assert json.loads(run(folder / "plain.txt", coded, "--json").stdout)["kind"] == "exact"


def test_unrelated_and_empty_files(folder: Path) -> None:
    empty = folder / "empty.txt"
    empty.write_bytes(b"")
    shown = run(folder / "other.txt", empty).stdout.decode()
    assert "resemblance   0.0000" in shown and "kind          none" in shown and "passages      none" in shown
    assert run(empty, empty).returncode == 0


def test_nothing_in_a_document_can_act_on_the_terminal(folder: Path) -> None:
    evil = folder / "evil.txt"
    evil.write_bytes("start \x1b[2J\x1b]0;title\x07 hidden\rshown \u202eesrever \u0000 end".encode())
    done = run(evil, folder / "a.txt")
    assert done.returncode == 0
    shown = done.stdout.decode()
    assert not set(shown) & set("\x1b\x07\r\x00\u202e")
    assert "‹U+001B›" in shown


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["missing.txt", "a.txt"], 1, "error: no such file: "),
        (["a.txt", "."], 1, "is a folder; name a file in it"),
        (
            ["a.txt", "b.txt", "--shingle-size", "0"],
            2,
            "error: --shingle-size must be a whole number from 1 to 64, not 0",
        ),
        (["a.txt", "b.txt", "--markup", "xml"], 2, "error: --markup must be one of auto, html, none, not 'xml'"),
        (["a.txt", "b.txt", "--context", "-1"], 2, "--context"),
        (["a.txt"], 2, "Missing argument"),
    ],
)
def test_mistakes_are_told_on_standard_error(folder: Path, arguments: list[str], code: int, message: str) -> None:
    done = run(*[folder / name if name in ("a.txt", "b.txt", "missing.txt", ".") else name for name in arguments])
    assert done.returncode == code
    assert message in done.stderr.decode() and "Traceback" not in done.stderr.decode()
    assert done.stdout == b""
