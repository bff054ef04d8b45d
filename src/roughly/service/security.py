"""Who asks, what for, and from where.

**Tokens.** `Authorization: Bearer TOKEN`. A token is compared by its SHA-256 with that of every known one, in constant
time, and all of them are always looked at: how long it takes tells nothing.

**Sessions.** A browser trades a token for a cookie: right, end, a random name, and an HMAC over them with a key that
lives as long as the process. The cookie is HttpOnly and SameSite=Strict. Without tokens the cookie gives no right; it
only binds forms.

**Forms.** A page's form holds an HMAC over the session's name. A request that a browser sent (it has a cookie, an
Origin or Sec-Fetch-Site) and that posts to a page must carry it. A program sends none of these, and nothing is done in
its name that it did not ask for.

**Other sites.** A browser tells where a request comes from; one from another site is refused unless it only reads.
Names are checked against DNS rebinding: on loopback, only its own names (and those allowed) are answered.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from roughly.service.access_tokens import RIGHTS
from roughly.service.config import Config, is_loopback

Right = Literal["read", "write", "admin"]
COOKIE = "roughly_session"
FORM_COOKIE = "roughly_forms"
"""Of those who have not signed in. It is another one, so that a link from elsewhere, with which a browser sends no
cookie, does not sign anyone out."""
FIELD = "csrf"
SESSION_SECONDS = 12 * 3600
_SAFE = ("GET", "HEAD", "OPTIONS")
_OPEN = ("/health", "/health/live", "/login", "/favicon.ico")
_ASKING = ("/api/check", "/api/check/batch", "/api/compare", "/api/group", "/ask", "/logout")
_ADMIN = ("/api/revoke",)
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # with no-referrer, browsers send our own forms with `Origin: null`
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


def right_needed(method: str, path: str) -> Right | None:
    """What a request needs; None: nothing. Whatever is not listed needs the right to write, unless it only reads."""
    path = path.removesuffix(".json")
    if path in _OPEN or path.startswith("/static/"):
        return None
    if method in _SAFE or path in _ASKING:
        return "read"
    return "admin" if method == "DELETE" or path in _ADMIN else "write"


def is_for_programs(path: str) -> bool:
    """Whether answers, errors too, are JSON there."""
    return path.startswith(("/api/", "/health", "/metrics", "/openapi")) or path.endswith(".json")


@dataclass(frozen=True)
class LoginSession:
    """What a cookie says."""

    name: str
    right: Right | None
    ends: int


class Authenticator:
    """Tells who asks."""

    def __init__(self, config: Config) -> None:
        by_right: dict[Right, frozenset[str]] = {
            "read": config.read_tokens, "write": config.write_tokens, "admin": config.admin_tokens,
        }  # fmt: skip
        self._known = [(_digest(token), right) for right, tokens in by_right.items() for token in sorted(tokens)]
        self._key = secrets.token_bytes(32)
        self.guarded = config.guarded
        self._hosts = _hosts(config)

    # ------------------------------------------------------------------ tokens

    def right_of(self, token: str) -> Right | None:
        """The right of a token; None: nobody knows it."""
        asked = _digest(token)
        found: Right | None = None
        for digest, right in self._known:
            if hmac.compare_digest(digest, asked):
                found = right
        return found

    def caller(self, token: str) -> str:
        """A name for a token, by which it is counted; it tells nothing of it."""
        return hmac.new(self._key, token.encode("utf-8", "replace"), "sha256").hexdigest()[:16]

    # ------------------------------------------------------------------ sessions and forms

    def begin(self, right: Right | None) -> tuple[LoginSession, str]:
        """A new session and its cookie."""
        session = LoginSession(secrets.token_hex(16), right, int(time.time()) + SESSION_SECONDS)
        said = f"{session.right or 'none'}.{session.ends}.{session.name}"
        return session, f"{said}.{self._sealed('session', said)}"

    def session(self, cookie: str | None) -> LoginSession | None:
        """What a cookie says, where we made it and it has not ended."""
        said, _, seal = (cookie or "").rpartition(".")
        if not hmac.compare_digest(self._sealed("session", said).encode(), seal.encode("utf-8", "replace")):
            return None
        right, ends, name = said.split(".")
        if int(ends) < time.time():
            return None
        return LoginSession(name, None if right == "none" else right, int(ends))  # type: ignore[arg-type]

    def form_token(self, session: LoginSession) -> str:
        """What the forms of a session hold."""
        return self._sealed("form", session.name)

    def is_form_token(self, session: LoginSession | None, given: str | None) -> bool:
        """Whether a form was made in this session."""
        if session is None or not given:
            return False
        return hmac.compare_digest(self.form_token(session).encode(), given.encode("utf-8", "replace"))

    def _sealed(self, purpose: str, said: str) -> str:
        return hmac.new(self._key, f"{purpose}\0{said}".encode("utf-8", "replace"), "sha256").hexdigest()

    # ------------------------------------------------------------------ other sites

    def answers_to(self, host: str) -> bool:
        """Whether we are known by this name."""
        return not self._hosts or _bare(host) in self._hosts


def is_elsewhere(method: str, host: str, origin: str | None, fetched_from: str | None) -> bool:
    """Whether another site's page sent a request that does more than read."""
    if method in _SAFE:
        return False
    if fetched_from is not None and fetched_from not in ("same-origin", "none"):
        return True
    return origin is not None and urlsplit(origin).netloc.lower() != host.lower()


def enough(right: Right | None, needed: Right | None) -> bool:
    """Whether a right includes another."""
    return needed is None or (right is not None and RIGHTS.index(right) >= RIGHTS.index(needed))


def local_path(given: str | None) -> str:
    """An address within this site to go on to, or the first page."""
    if not given or not given.startswith("/") or given.startswith("//") or "\\" in given or not given.isprintable():
        return "/"
    return given


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def _hosts(config: Config) -> frozenset[str]:
    """Names that requests may be addressed to; empty: any, since a token is needed anyway."""
    given = frozenset(_bare(host) for host in config.allowed_hosts)
    if not is_loopback(config.host):
        return given and given | {_bare(config.host)}
    return given | {"localhost", "127.0.0.1", "::1", _bare(config.host)}


def _bare(host: str) -> str:
    """A host without its port."""
    host = host.strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host if host.count(":") > 1 else host.partition(":")[0]


def cookie_header(name: str, value: str, secure: bool, seconds: int = SESSION_SECONDS) -> tuple[bytes, bytes]:
    """A cookie that scripts do not see and other sites do not send."""
    said = f"{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{'; Secure' if secure else ''}"
    return b"set-cookie", said.encode("latin-1")


def allowed(hosts: Iterable[str]) -> frozenset[str]:
    """Names as given on the command line."""
    return frozenset(_bare(host) for host in hosts)
