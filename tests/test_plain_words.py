"""The words of docstrings, comments, messages and pages are those of the field and of ordinary English.

Each pattern below was once a private word of the project, or a turn of phrase that readers stumble over, and is never
right here. Names of tables in stored files (`crowds` in an index) are not prose and may stay.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / "src" / "roughly").rglob("*.py"))
TEMPLATES = sorted((ROOT / "src" / "roughly").rglob("templates/**/*.html"))
CORE = sorted((ROOT / "core").glob("*.[hc]pp"))
PAGES = [
    *(page for page in sorted((ROOT / "docs").rglob("*.md")) if page.name != "reproduction.md"),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md")),
]
"""All but the page that experiments write: much of it is their own wording."""

_UNITS = "bytes|kB|MB|GB|seconds|ms|µs|documents|pairs|keys|tokens|values|requests|rows|reader|thread|object"
_PER = (
    "document|second(?! time)|megabyte|core|pair|key|token|shingle|term|row|line|file|batch|stage|thread|lexicon|word"
)
UNPLAIN = {
    r"\bcrowd(s|ed)?\b": "say hot key or hot bucket",
    r"\bforesee": "say check or estimate",
    r"\btroubles\b": "say errors",
    r"\bthat (stay|go|went)\b": "say kept or removed",
    r"\b(who|which of them) stays\b": "say which document is kept",
    r"\blet go of\b": "say freed or removed",
    r"\bhang(s)? together\b": "say connected",
    r"\bleast that would do\b|\bleast --memory\b": "say the minimum is …",
    r"\b(one|all) road\b|\b(fast|slow|quick|whole) road\b": "say path, way or steps",
    r"\bsuch as (has|went|have)\b": "say those that …",
    rf"\b({_UNITS}) an? ({_PER})\b": "say per",
    r"(^|[.:] )Of (the|each|every) ": "begin with the subject: for each …, the … of each",
    r"\bone behind another\b": "say one after another",
    r"\banew\b": "say again",
    r"\bunder way\b": "say running",
    r"\bstands?\b(?! (in )?for\b)(?!$)": "say is in …, occurs or has no …",
    r"\bbut for\b": "say except for",
    r"\bin the place of\b": "say instead of",
    r"\bso many (bytes|values|keys|documents|connections|seconds|of)\b": "say this many",
    r"\b(is|are|be) told\b|\bcannot be had\b": "say the message or summary says, or is not available",
    r"\b(most|nearly|how|How|be) alike\b|\balike as wholes\b": "say similar",
    r"\bsomebody\b": "say another user, or a thread",
    r"\bis asked (for|about)\b|\bso many others\b": "say queried, wanted, used, too many",
    r"\bbeside (its|their|the) (keys|counts|candidates|work|ids|sets)\b": "say in addition to, or without",
}
"""What is never right, and what to write instead."""
_ANY = re.compile("|".join(f"(?:{pattern})" for pattern in UNPLAIN), re.MULTILINE)
ALLOWED = {"crowds", "crowds_key", "crowded_buckets"}
"""Names in stored files and in run.json."""


def _prose_of_python(path: Path) -> Iterator[tuple[int, str]]:
    """(line, text) of every docstring, comment and string of a file; strings of SQL are not prose."""
    for token in tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("# ")
        elif token.type == tokenize.STRING or tokenize.tok_name[token.type] == "FSTRING_MIDDLE":
            text = token.string
            if token.type == tokenize.STRING and not re.match(r"(?i)[rb]*f", text):
                text = str(ast.literal_eval(text))
            if not re.search(r"\b(SELECT|FROM|INSERT|CREATE|DELETE|UPDATE)\b", text):
                yield token.start[0], text


def _prose_of_core(path: Path) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if "//" in line:
            yield number, line.partition("//")[2].strip()


def _prose_of_page(path: Path) -> Iterator[tuple[int, str]]:
    is_code = False
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        is_code ^= line.lstrip().startswith("```")
        if not is_code:
            yield number, re.sub(r"`[^`]*`", "", line)


def _prose_of_template(path: Path) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        yield number, re.sub(r"\{[{%#].*?[}%#]\}|<[^>]*>", "", line)


def unplain(path: Path) -> list[str]:
    """Every line of a file that has one of the patterns, with what to write instead."""
    prose = {".py": _prose_of_python, ".md": _prose_of_page, ".html": _prose_of_template}.get(
        path.suffix, _prose_of_core
    )
    found = []
    for first, text in prose(path):
        if not _ANY.search(text) or text.strip("\"'`") in ALLOWED:
            continue
        words = re.sub(r"`(" + "|".join(ALLOWED) + ")`", "", text)
        for at, line in enumerate(words.split("\n")):
            for pattern, instead in UNPLAIN.items():
                if re.search(pattern, line.strip()):
                    found.append(f"{path.relative_to(ROOT)}:{first + at}: {line.strip()[:100]!r}; {instead}")
    return found


@pytest.mark.parametrize("files", [SOURCES, CORE, PAGES, TEMPLATES], ids=["sources", "core", "pages", "templates"])
def test_the_words_are_plain(files: list[Path]) -> None:
    assert files
    found = [line for path in files for line in unplain(path)]
    assert not found, "\n".join(found)


def test_old_words_are_found(tmp_path: Path) -> None:
    """The test itself: a comment, a docstring, a message and a page with old words, and code that may have them."""
    source = tmp_path / "old.py"
    source.write_text('"""Who stays."""\ncrowds = {}  # a crowd\nraise ValueError("12 bytes a document")\n')
    page = tmp_path / "old.md"
    page.write_text("Of the documents\n```\nOf the documents\n```\n`crowds`\n")
    assert [line for line, text in _prose_of_python(source) if any(re.search(p, text) for p in UNPLAIN)] == [2, 3]
    assert [line for line, text in _prose_of_page(page) if any(re.search(p, text) for p in UNPLAIN)] == [1]
