"""The HTTP API and every page, called within the process: a changed request is answered, never with status 500."""

from __future__ import annotations

import asyncio
import json
import shutil
import weakref
from pathlib import Path
from typing import Any
from urllib.parse import quote

from artefact_targets import rows, written
from mutation import Prepared

import roughly
from roughly import Index
from roughly.service.application import create_app
from roughly.service.served_data import ServedData
from roughly.service.service_config import ServiceConfig

_AT_MOST = 400
"""Requests until the index is replaced by the one of the start, so that it does not grow."""
PAGES = """
/ /index.json /overview/time /clusters?q=barta&sort=size /clusters/d0 /documents?q=barta&page=2 /documents.csv?title=t1
/documents/d1 /compare?left=d0&right=d1 /search?q=barta+corro /search.json?q=%22barta%22+OR+corro
/threshold?threshold=0.5 /threshold/settings.toml?threshold=0.7 /threshold/examples?threshold=0.9 /judge /decisions
/lost?url=http://a/ /copies?id=d1 /changes /ask /passages /passages/1 /passages/document?id=d1 /api /login /api/stats
/tune /tune/state /tune/settings.toml /api/documents?id=d1&text=true /api/clusters/1 /api/copies?id=d1
/api/lost?url=http://a/ /health /metrics /openapi.json /static/style.css
"""
WORDS = "../ %00 %2e%2e/ ' \" <script> {} [] null -1 1e999 \\ud800 &id= ?q= %ff OR * NEAR( 99999999999999999999"


def _json(method: str, path: str, value: Any, kind: str = "application/json") -> bytes:
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    return f"{method} {path} {kind}\n".encode() + body


def requests(count: int = 0) -> list[bytes]:
    """A good request for every endpoint and page: a line with method, path and type, then the body; and requests with
    texts of so many words."""
    made = [f"GET {path} text/html\n".encode() for path in PAGES.split()]
    lines = b"\n".join(json.dumps({"doc_id": row["id"], "text": row["text"]}).encode() for row in rows(60))
    form = "application/x-www-form-urlencoded"
    upload = (
        b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nsome text\r\n'
        b'--b\r\nContent-Disposition: form-data; name="text"\r\n\r\nbarta corro\r\n--b--\r\n'
    )
    made += [
        _json("POST", "/api/documents", {"doc_id": "n", "text": "a b c", "url": "http://a/b", "date": "2024-01-02"}),
        _json("POST", "/api/documents/batch", lines, "application/x-ndjson"),
        _json("POST", "/api/check/batch", lines, "application/x-ndjson"),
        _json("POST", "/api/documents/batch", [{"doc_id": "n", "text": "a"}, {"text": "b"}]),
        _json("POST", "/api/check", {"text": rows(3)[0]["text"], "limit": 5, "minimum": 0.5, "markup": True}),
        _json("POST", "/api/compare", {"left": {"text": "a b c d e f"}, "right": {"doc_id": "d1"}, "diff": True}),
        _json("POST", "/api/group", {"results": [{"text": row["text"]} for row in rows(60)] + ["d1"], "show": "rank"}),
        _json("POST", "/api/revoke", {"ids": ["d5"]}),
        _json("DELETE", "/api/documents?id=d4", b""),
        _json("POST", "/ask", b"text=barta+corro&markup=html", form),
        _json("POST", "/ask", upload, "multipart/form-data;boundary=b"),
        _json("POST", "/decisions", b"decision=keep&id=d1&by=a&note=b", form),
        _json("POST", "/decisions/undo", b"number=1&by=a", form),
        _json("POST", "/judge", b"pair=1&verdict=same&judge=a", form),
        _json("POST", "/judge/begin", b"judge=a&pairs=5", form),
        _json("POST", "/tune", b"precision=0.9&recall=", form),
        _json("POST", "/tune/show", b"which=next", form),
        _json("POST", "/tune/stop", b"", form),
        _json("POST", "/login", b"token=0123456789abcdef", form),
    ]  # fmt: skip
    if count:
        text = " ".join(row["text"] for row in rows(count // 50))
        form_text, line = quote(text).encode(), json.dumps({"text": text}).encode()
        made += [
            _json("POST", "/api/documents", {"doc_id": "n", "text": text, "url": "http://a/b", "date": "2024-01-02"}),
            _json("POST", "/api/check", {"text": f"<p>{text}", "limit": 5, "minimum": 0.5}),
            _json("POST", "/api/compare", {"left": {"text": text}, "right": {"text": text[100:]}}),
            _json("POST", "/api/group", {"results": [{"text": text}, {"text": text[::-1]}, "d1"], "show": "rank"}),
            _json("POST", "/api/check/batch", b"\n".join([line] * 3), "application/x-ndjson"),
            _json("POST", "/api/documents/batch", [{"doc_id": "n", "text": text}, {"text": text}]),
            _json("POST", "/api/revoke", {"ids": [f"d{number}" for number in range(count)]}),
            _json("POST", "/ask", b"markup=html&text=" + form_text, form),
            _json("POST", "/ask", upload.replace(b"some text", text.encode()), "multipart/form-data;boundary=b"),
            _json("POST", "/decisions", b"decision=keep&id=d1&by=a&note=" + form_text, form),
        ]  # fmt: skip
    return made


class Service:
    """The application over a run, a run of passages and an index, which is renewed now and then."""

    def __init__(self, scratch: Path) -> None:
        self._scratch, self._asked = scratch, 0
        given = written(scratch)
        roughly.dedupe(given, output=scratch / "run", pairs="all")
        roughly.passages(given, output=scratch / "passages", least=5)
        with Index.create(scratch / "whole.db", search=True) as index:
            index.add([{"doc_id": row["id"], "text": row["text"], "title": row["title"]} for row in rows()])
        self._loop = asyncio.new_event_loop()
        weakref.finalize(self, self._loop.close)
        self._app: Any = None

    def use(self, path: Path) -> None:
        """Ask with the content of a file."""
        if self._asked % _AT_MOST == 0:
            self._loop.run_until_complete(self._renew())
        self._asked += 1
        head, _, body = path.read_bytes().partition(b"\n")
        method, _, rest = head.decode("latin-1").partition(" ")
        target, _, kind = rest.rpartition(" ")
        where, _, query = target.partition("?")
        status, answer = self._loop.run_until_complete(ask(self._app, method, where, query, kind, body))
        if status >= 500:
            raise AssertionError(f"{status}: {answer[:300]!r}")

    async def _renew(self) -> None:
        if self._app is not None:
            await self._lifespan.__aexit__(None, None, None)
            self._served.close()
        for path in self._scratch.glob("index.db*"):
            path.unlink()
        for path in (*self._scratch.glob("run.*.jsonl"), *self._scratch.glob("run.tuned.*")):
            path.unlink()
        shutil.copy(self._scratch / "whole.db", self._scratch / "index.db")
        places = [self._scratch / name for name in ("run", "passages", "index.db")]
        self._served = ServedData.open(places)
        self._app = create_app(self._served, ServiceConfig(rate=0, timeout=600))
        self._lifespan = self._app.router.lifespan_context(self._app)
        await self._lifespan.__aenter__()


async def ask(app: Any, method: str, path: str, query: str, kind: str, body: bytes) -> tuple[int, bytes]:
    """Status and beginning of the answer to a request."""
    status, answer, sent = 0, bytearray(), False

    async def receive() -> dict[str, Any]:
        nonlocal sent
        if sent:
            await asyncio.sleep(600)
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        nonlocal status
        status = message.get("status", status)
        answer.extend(message.get("body", b"") if len(answer) < 1000 else b"")

    headers = {
        "host": "127.0.0.1",
        "origin": "http://127.0.0.1",
        "content-type": kind,
        "content-length": str(len(body)),
    }
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
        "path": path, "raw_path": quote(path).encode(), "query_string": query.encode("latin-1"), "root_path": "",
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers.items()],
        "client": ("127.0.0.1", 9), "server": ("127.0.0.1", 80), "state": {},
    }  # fmt: skip
    await app(scope, receive, send)
    return status, bytes(answer)


async def get(app: Any, path: str, query: str) -> tuple[int, bytes]:
    """The same of a page."""
    return await ask(app, "GET", path, query, "text/html", b"")


def http_api(scratch: Path, count: int = 0) -> Prepared:
    """Every endpoint and page."""
    seeds = [(scratch / "request", seed) for seed in requests(count)]
    return Prepared(seeds, Service(scratch).use, words=tuple(WORDS.encode().split()))
