"""Words, mail and crawls that the tests of streams, results and sweeps are made of."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable
from pathlib import Path

import pytest

WORDS = [
    f"{a}{b}"
    for a in ("bar", "cor", "den", "fal", "gim", "hol", "jun", "kes")
    for b in ("ta", "ro", "mi", "lu", "se", "vo")
]


def prose(seed: int, words: int = 120) -> str:
    """A text of so many words, always the same for a seed, and unlike that of another."""
    draw = random.Random(seed)
    return " ".join(
        f"{draw.choice(WORDS)}{seed % 97}" if draw.random() < 0.3 else draw.choice(WORDS) for _ in range(words)
    )


def edited(text: str, seed: int, changes: int = 1) -> str:
    """The text with some words exchanged."""
    draw = random.Random(seed)
    words = text.split()
    for _ in range(changes):
        words[draw.randrange(len(words))] = f"changed{draw.randrange(10_000)}"
    return " ".join(words)


def mail(number: int, body: str, subject: str = "Hello") -> bytes:
    """A message."""
    head = f"From: someone@example.org\nSubject: {subject}\nDate: Mon, 04 Mar 2024 10:00:00 +0000\n"
    return f"{head}Message-ID: <m{number}@example.org>\n\n{body}\n".encode()


def mbox(*messages: bytes) -> bytes:
    """An mbox of messages."""
    return b"".join(b"From someone@example.org Mon Mar  4 10:00:00 2024\n" + message + b"\n" for message in messages)


Crawl = Callable[..., Path]


@pytest.fixture
def crawl(tmp_path: Path) -> Crawl:
    """Writes a WARC of pages: {url: text}, with other answers by their status, and revisits."""

    def write(
        name: str, pages: dict[str, str], *, gone: dict[str, int] | None = None, same: tuple[str, ...] = ()
    ) -> Path:
        path = tmp_path / name
        records = [_record("response", n, url, _http(200, text)) for n, (url, text) in enumerate(pages.items())]
        records += [
            _record("response", 900 + n, url, _http(s, "Not here")) for n, (url, s) in enumerate((gone or {}).items())
        ]
        records += [_record("revisit", 950 + n, url, _http(200, "")) for n, url in enumerate(same)]
        path.write_bytes(b"".join(gzip.compress(record, mtime=0) for record in records))
        return path

    return write


def _http(status: int, text: str) -> bytes:
    page = f"<html><body><p>{text}</p></body></html>" if text else ""
    return f"HTTP/1.1 {status} X\r\nContent-Type: text/html; charset=utf-8\r\n\r\n{page}".encode()


def _record(kind: str, number: int, url: str, block: bytes) -> bytes:
    fields = {
        "WARC-Type": kind, "WARC-Record-ID": f"<urn:uuid:{kind}-{number}>", "WARC-Date": "2024-01-26T20:06:24Z",
        "WARC-Target-URI": url, "Content-Type": "application/http; msgtype=response", "Content-Length": str(len(block)),
    }  # fmt: skip
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return b"WARC/1.0\r\n" + head.encode() + b"\r\n" + block + b"\r\n\r\n"
