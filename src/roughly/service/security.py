"""Authentication and the defence against requests of other sites.

**Tokens.** `Authorization: Bearer TOKEN`. The SHA-256 of a token is compared with that of every known one, in constant
time, so that the time taken reveals nothing.

**Sessions.** A browser exchanges a token for a cookie: right, expiry, a random name, and an HMAC over them with a key
that lives as long as the process. The cookie is HttpOnly and SameSite=Strict. Without tokens the cookie gives no right;
it only binds forms. Starlette's SessionMiddleware is not used: it knows one cookie where two are needed, and decides at
start, not per request, whether the cookie is for HTTPS only.

**Forms.** A form contains an HMAC over the session's name. A request that a browser sent (it has a cookie, an Origin or
Sec-Fetch-Site) and that posts to a page must include it. A program sends none of these, so no other site can send a
request in its name.

**Other sites.** A browser says which site sent a request; one from another site is refused unless it only reads. Host
names are checked against DNS rebinding: on loopback, only the service's own names and the allowed ones are accepted.
Starlette's TrustedHostMiddleware is not used: it refuses in plain text with status 400, unlike all other refusals here.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Iterable
from typing import Literal
from urllib.parse import urlsplit

from roughly.fast_dataclass import dataclass
from roughly.service.access_tokens import RIGHTS
from roughly.service.service_config import ServiceConfig, is_loopback

Right = Literal["read", "write", "admin"]
COOKIE = "roughly_session"
FORM_COOKIE = "roughly_forms"
"""For visitors who have not signed in. It is a second cookie, so that following a link from another site, for which a
browser sends no cookie, does not sign anyone out."""
FIELD = "csrf"
SESSION_SECONDS = 12 * 3600
_SAFE = ("GET", "HEAD", "OPTIONS")
_OPEN = ("/health", "/health/live", "/login", "/favicon.ico")
_READING = ("/api/check", "/api/check/batch", "/api/compare", "/api/group", "/ask", "/logout")
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
    """The right that a request needs, or None. What is not listed needs the right to write, unless it only reads."""
    path = path.removesuffix(".json")
    if path in _OPEN or path.startswith("/static/"):
        return None
    if method in _SAFE or path in _READING:
        return "read"
    return "admin" if method == "DELETE" or path in _ADMIN else "write"


def is_for_programs(path: str) -> bool:
    """Whether responses at this path, errors too, are JSON."""
    return path.startswith(("/api/", "/health", "/metrics", "/openapi")) or path.endswith(".json")


@dataclass(frozen=True)
class LoginSession:
    """The content of a cookie."""

    name: str
    right: Right | None
    expires: int


class Authenticator:
    """Checks tokens, sessions and host names."""

    def __init__(self, config: ServiceConfig) -> None:
        by_right: dict[Right, frozenset[str]] = {
            "read": config.read_tokens, "write": config.write_tokens, "admin": config.admin_tokens,
        }  # fmt: skip
        self._known = [(_digest(token), right) for right, tokens in by_right.items() for token in sorted(tokens)]
        self._key = secrets.token_bytes(32)
        self.guarded = config.guarded
        self._hosts = _hosts(config)

    # ------------------------------------------------------------------ tokens

    def right_of(self, token: str) -> Right | None:
        """The right of a token; None if it is unknown."""
        given = _digest(token)
        found: Right | None = None
        for digest, right in self._known:
            if hmac.compare_digest(digest, given):
                found = right
        return found

    def caller(self, token: str) -> str:
        """A name for a token, for the log and the rate limit; it reveals nothing of the token."""
        return hmac.new(self._key, token.encode("utf-8", "replace"), "sha256").hexdigest()[:16]

    # ------------------------------------------------------------------ sessions and forms

    def begin_session(self, right: Right | None) -> tuple[LoginSession, str]:
        """A new session and its cookie."""
        session = LoginSession(secrets.token_hex(16), right, int(time.time()) + SESSION_SECONDS)
        content = f"{session.right or 'none'}.{session.expires}.{session.name}"
        return session, f"{content}.{self._sign('session', content)}"

    def session(self, cookie: str | None) -> LoginSession | None:
        """The session of a cookie, if this process made the cookie and it has not expired."""
        content, _, signature = (cookie or "").rpartition(".")
        if not hmac.compare_digest(self._sign("session", content).encode(), signature.encode("utf-8", "replace")):
            return None
        right, expires, name = content.split(".")
        if int(expires) < time.time():
            return None
        return LoginSession(name, None if right == "none" else right, int(expires))  # type: ignore[arg-type]

    def form_token(self, session: LoginSession) -> str:
        """The hidden field of the forms of a session."""
        return self._sign("form", session.name)

    def is_form_token(self, session: LoginSession | None, given: str | None) -> bool:
        """Whether a form was made in this session."""
        if session is None or not given:
            return False
        return hmac.compare_digest(self.form_token(session).encode(), given.encode("utf-8", "replace"))

    def _sign(self, purpose: str, content: str) -> str:
        return hmac.new(self._key, f"{purpose}\0{content}".encode("utf-8", "replace"), "sha256").hexdigest()

    # ------------------------------------------------------------------ other sites

    def is_known_host(self, host: str) -> bool:
        """Whether requests may use this host name."""
        return not self._hosts or _without_port(host) in self._hosts


def is_cross_site(method: str, host: str, origin: str | None, fetch_site: str | None) -> bool:
    """Whether a page of another site sent a request that does more than read."""
    if method in _SAFE:
        return False
    if fetch_site is not None and fetch_site not in ("same-origin", "none"):
        return True
    return origin is not None and urlsplit(origin).netloc.lower() != host.lower()


def includes(right: Right | None, needed: Right | None) -> bool:
    """Whether a right includes another."""
    return needed is None or (right is not None and RIGHTS.index(right) >= RIGHTS.index(needed))


def local_path(given: str | None) -> str:
    """A path within this site, or the first page."""
    if not given or not given.startswith("/") or given.startswith("//") or "\\" in given or not given.isprintable():
        return "/"
    return given


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def _hosts(config: ServiceConfig) -> frozenset[str]:
    """Host names that requests may use; empty: any, since a token is needed anyway."""
    given = allowed(config.allowed_hosts)
    if not is_loopback(config.host):
        return given and given | {_without_port(config.host)}
    return given | {"localhost", "127.0.0.1", "::1", _without_port(config.host)}


def _without_port(host: str) -> str:
    """A host name without its port."""
    host = host.strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host if host.count(":") > 1 else host.partition(":")[0]


def cookie_header(name: str, value: str, secure: bool, seconds: int = SESSION_SECONDS) -> tuple[bytes, bytes]:
    """A cookie that scripts cannot read and that is not sent with requests of other sites."""
    cookie = f"{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{'; Secure' if secure else ''}"
    return b"set-cookie", cookie.encode("latin-1")


def allowed(hosts: Iterable[str]) -> frozenset[str]:
    """Host names as given on the command line."""
    return frozenset(_without_port(host) for host in hosts)
