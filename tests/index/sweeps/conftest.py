"""Crawls, as web archives."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

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
