"""Who may do what: tokens, sessions, forms, names, origins, headers; and what the log never says."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from serving_process import ADMIN, READ, TOKENS, WRITE, serving

from roughly import Index
from roughly.errors import InputMissing, SettingsError
from roughly.service import security
from roughly.service.access_tokens import parse_tokens, read_tokens
from roughly.service.security import Authenticator, local_path, right_needed
from roughly.service.served_data import ServedData
from roughly.service.service_config import ServiceConfig, is_loopback

GUARDED = ServiceConfig(read_tokens=frozenset({READ}), write_tokens=frozenset({WRITE}), admin_tokens=frozenset({ADMIN}))
DOCUMENT = {"doc_id": "a", "text": "some words that are long enough to be a document of the index"}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with Index.create(tmp_path_factory.mktemp("guarded") / "a.db") as made:
        made.add(DOCUMENT)
        yield made


@pytest.fixture(scope="module")
def http(index: Index) -> Iterator[httpx.Client]:
    with serving(ServedData(index=index), GUARDED) as client:
        yield client


@pytest.fixture(scope="module")
def unguarded(index: Index) -> Iterator[httpx.Client]:
    with serving(ServedData(index=index)) as client:
        yield client


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def test_each_token_may_do_what_those_before_it_may(http: httpx.Client) -> None:
    for token, reads, writes, removes in ((READ, 200, 403, 403), (WRITE, 200, 200, 403), (ADMIN, 200, 200, 200)):
        headers = bearer(token)
        assert http.post("/api/check", json=DOCUMENT, headers=headers).status_code == reads
        assert http.get("/api/stats", headers=headers).status_code == reads
        assert http.get("/metrics", headers=headers).status_code == reads
        assert http.post("/api/documents", json=DOCUMENT, headers=headers).status_code == writes
        assert http.post("/api/documents/batch", json=[DOCUMENT], headers=headers).status_code == writes
        assert http.delete("/api/documents", params={"id": "nobody"}, headers=headers).status_code == removes
        assert http.post("/api/revoke", json={"ids": ["nobody"]}, headers=headers).status_code == removes


def test_without_a_token_nothing_is_told(http: httpx.Client) -> None:
    for path in ("/api/stats", "/metrics", "/openapi.json", "/clusters.json"):
        told = http.get(path)
        assert told.status_code == 401 and told.headers["www-authenticate"].startswith("Bearer"), path
        assert set(told.json()) == {"error", "remedy"}
    page = http.get("/clusters?page=2")
    assert page.status_code == 303 and page.headers["location"] == "/login?next=%2Fclusters%3Fpage%3D2"
    assert http.get("/health").status_code == 200 and http.get("/static/htmx.min.js").status_code == 200
    http.cookies.clear()


def test_wrong_tokens_run_out(index: Index) -> None:
    with serving(ServedData(index=index), GUARDED) as http:
        codes = [http.get("/api/stats", headers=bearer(f"wrong-{n}")).status_code for n in range(12)]
        assert codes[:10] == [401] * 10 and 429 in codes[10:]
        assert http.get("/api/stats", headers=bearer(READ)).status_code == 200
        for given in ("Bearer", "Basic eDp5", f"Bearer {READ}x", READ, "Bearer " + "x" * 5000):
            assert http.get("/api/stats", headers={"authorization": given}).status_code in (401, 429)


def test_tokens_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every known token is compared, by digest, whether one fits or not."""
    compared: list[tuple[bytes, bytes]] = []
    real = security.hmac.compare_digest
    monkeypatch.setattr(security.hmac, "compare_digest", lambda a, b: compared.append((a, b)) or real(a, b))
    authenticator = Authenticator(GUARDED)
    assert [authenticator.right_of(token) for token in (READ, WRITE, ADMIN, "x")] == ["read", "write", "admin", None]
    assert len(compared) == 4 * 3 and all(len(a) == len(b) == 32 for a, b in compared)


def signed_in(http: httpx.Client, token: str) -> httpx.Response:
    http.cookies.clear()
    page = http.get("/login", params={"next": "/api"})
    secret = re.search(r'name="csrf" value="([0-9a-f]+)"', page.text)
    assert secret is not None
    return http.post("/login", data={"token": token, "csrf": secret[1], "next": "/api"})


def test_a_browser_signs_in(http: httpx.Client) -> None:
    answer = signed_in(http, READ)
    assert answer.status_code == 303 and answer.headers["location"] == "/api"
    cookie = answer.headers["set-cookie"]
    assert READ not in cookie and "HttpOnly" in cookie and "SameSite=Strict" in cookie
    assert http.get("/api").status_code == 200
    assert http.get("/api/stats").status_code == 200
    assert http.post("/api/documents", json=DOCUMENT).status_code == 403
    page = http.get("/login").text
    secret = re.search(r'name="csrf" value="([0-9a-f]+)"', page)
    assert secret is not None and "right to read" in page
    out = http.post("/logout", data={"csrf": secret[1]})
    assert out.status_code == 303 and "Max-Age=0" in out.headers["set-cookie"]
    wrong = signed_in(http, "no such token, not at all")
    assert wrong.status_code == 401 and "not known" in wrong.text
    http.cookies.clear()


def test_a_forged_or_old_cookie_is_no_session(http: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    authenticator = Authenticator(GUARDED)
    session, cookie = authenticator.begin_session("read")
    assert authenticator.session(cookie) == session
    assert authenticator.session(cookie.replace("read", "admin")) is None
    assert Authenticator(GUARDED).session(cookie) is None, "another process has another key"
    for broken in (None, "", ".", "a.b", cookie[:-1], cookie + "0", "é" * 10):
        assert authenticator.session(broken) is None
    monkeypatch.setattr(security.time, "time", lambda: session.expires + 1)
    assert authenticator.session(cookie) is None
    monkeypatch.undo()
    forged = f"admin.{session.expires}.{session.name}.{'0' * 64}"
    assert http.get("/api/stats", headers={"cookie": f"roughly_session={forged}"}).status_code == 401


def test_forms_need_the_secret_of_their_session(http: httpx.Client) -> None:
    for given in ({}, {"csrf": "0" * 64}):
        http.cookies.clear()
        http.get("/login")
        assert http.post("/login", data={"token": READ, **given}).status_code == 403
    other = httpx.Client(base_url=http.base_url)
    secret = re.search(r'value="([0-9a-f]{64})"', other.get("/login").text)
    other.close()
    assert secret is not None
    http.cookies.clear()
    http.get("/login")
    assert http.post("/login", data={"token": READ, "csrf": secret[1]}).status_code == 403, "of another session"
    broken = {"content-type": "multipart/form-data; boundary=x", "origin": str(http.base_url).rstrip("/")}
    assert http.post("/login", content=b"--x\r\nbroken", headers=broken).status_code in (400, 403)
    broken["content-type"] = "multipart/form-data"
    assert http.post("/login", content=b"--x\r\nbroken", headers=broken).status_code == 400, "no boundary"
    http.cookies.clear()


def test_requests_of_other_sites_are_refused(unguarded: httpx.Client) -> None:
    own = str(unguarded.base_url).rstrip("/")
    for headers, status in (
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"origin": own, "sec-fetch-site": "same-origin"}, 200),
        ({}, 200),
    ):
        assert unguarded.post("/api/documents", json=DOCUMENT, headers=headers).status_code == status, headers
    # a form of another site can send text/plain without asking; that is not JSON
    plain = unguarded.post(
        "/api/documents", content=b'{"doc_id":"x","text":"y"}', headers={"content-type": "text/plain"}
    )
    assert plain.status_code == 422


def test_unknown_names_are_refused(unguarded: httpx.Client, index: Index) -> None:
    for host, status in (("localhost:1", 200), ("127.0.0.1", 200), ("[::1]:80", 200), ("evil.example", 403), ("", 403)):
        assert unguarded.get("/health", headers={"host": host}).status_code == status, host
    with serving(ServedData(index=index), ServiceConfig(allowed_hosts=frozenset({"docs.example"}))) as http:
        assert http.get("/health", headers={"host": "docs.example"}).status_code == 200


def test_every_answer_has_the_headers(unguarded: httpx.Client) -> None:
    for path in ("/api/stats", "/api", "/nothing", "/static/htmx.min.js", "/health"):
        headers = unguarded.get(path).headers
        for name, value in security.HEADERS.items():
            assert headers[name] == value, (path, name)
        assert "server" not in headers, path
    assert "unsafe" not in security.HEADERS["content-security-policy"]


def test_elsewhere_only_with_tokens() -> None:
    for host in ("0.0.0.0", "::", "192.168.1.1", "example.org"):
        assert not is_loopback(host)
        with pytest.raises(SettingsError, match="--token-file"):
            ServiceConfig(host=host)
        ServiceConfig(host=host, read_tokens=frozenset({READ}))
    assert is_loopback("localhost") and is_loopback("::1") and is_loopback("127.3.2.1")


def test_tokens_of_a_file_or_the_environment(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    path.write_text(f"# ours\n{TOKENS}", encoding="utf-8")
    path.chmod(0o644)
    with pytest.raises(SettingsError, match="chmod 600"):
        read_tokens(path)
    path.chmod(0o600)
    assert read_tokens(path) == {"read": {READ}, "write": {WRITE}, "admin": {ADMIN}}
    assert read_tokens(None, {"ROUGHLY_TOKENS": TOKENS.replace("\n", ",")})["admin"] == {ADMIN}
    assert not any(read_tokens(None, {}).values())
    with pytest.raises(InputMissing):
        read_tokens(tmp_path / "none")
    for text in ("read short", "reads " + "x" * 20, "read", f"read {READ}\nwrite {READ}", "# nothing", "", " \n\n"):
        with pytest.raises(SettingsError) as problem:
            parse_tokens(text, "here")
        assert READ not in str(problem.value), "a message shows no token"
    assert READ not in repr(GUARDED)


@pytest.mark.parametrize("content", ["", " \n\t\n", "# none yet\n"])
def test_tokens_that_protect_nothing_are_refused_at_the_start(tmp_path: Path, content: str) -> None:
    path = tmp_path / "tokens"
    path.write_text(content, encoding="utf-8")
    path.chmod(0o600)
    with pytest.raises(SettingsError, match="holds no token, so nothing would be protected"):
        read_tokens(path)
    with pytest.raises(SettingsError, match="ROUGHLY_TOKENS holds no token"):
        read_tokens(None, {"ROUGHLY_TOKENS": content})


def test_a_token_file_that_anyone_can_change_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    path.write_text(TOKENS, encoding="utf-8")
    for mode, verbs in ((0o602, "write"), (0o606, "read and write"), (0o604, "read")):
        path.chmod(mode)
        with pytest.raises(SettingsError, match=f"every user of this machine can {verbs} "):
            read_tokens(path)


def test_rights_and_paths() -> None:
    assert right_needed("GET", "/clusters") == "read" and right_needed("POST", "/judge") == "write"
    assert right_needed("DELETE", "/api/documents") == "admin" and right_needed("PATCH", "/whatever") == "write"
    assert right_needed("POST", "/ask.json") == "read" and right_needed("GET", "/health") is None
    for given in (None, "", "//evil.example", "https://evil.example", "/\\evil", "/a\nb", "javascript:x"):
        assert local_path(given) == "/"
    assert local_path("/clusters?page=2") == "/clusters?page=2"


def test_the_log_names_no_token_and_no_text(index: Index, caplog: pytest.LogCaptureFixture) -> None:
    secret = "a text that only its owner should read"
    with caplog.at_level("INFO"), serving(ServedData(index=index), GUARDED) as http:
        http.post("/api/check", json={"text": secret}, headers=bearer(WRITE))
        http.get("/search", params={"q": secret}, headers=bearer(WRITE))
        http.get(f"/api/stats?token={READ}", headers=bearer("wrong token here, long enough"))
        http.get("/x%1b%5b31m%0aforged", headers=bearer(READ))
    logged = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith("roughly"))
    assert "POST /api/check 200" in logged
    for word in (READ, WRITE, "wrong token", "owner", "\x1b", "\nforged"):
        assert word not in logged


def test_no_traceback_goes_out(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("secret of the inside")

    with serving(ServedData(index=index)) as http:
        monkeypatch.setattr(Index, "query", broken)
        monkeypatch.setattr(Index, "add", broken)
        for answer in (http.post("/api/check", json=DOCUMENT), http.post("/api/documents", json=DOCUMENT)):
            assert answer.status_code == 500 and "secret" not in answer.text and "Traceback" not in answer.text
            assert answer.json()["error"]


def test_a_server_on_every_address_needs_tokens(tmp_path: Path) -> None:
    import subprocess
    import sys

    with Index.create(tmp_path / "a.db"):
        pass
    command = [sys.executable, "-m", "roughly", "serve", str(tmp_path / "a.db"), "--host", "0.0.0.0"]
    environment = {name: value for name, value in os.environ.items() if name != "ROUGHLY_TOKENS"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 2 and "tokens are needed" in done.stderr and "Traceback" not in done.stderr
