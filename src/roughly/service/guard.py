"""What every request passes first, and every answer last: names, callers, rights, rates, sizes, time, headers, the log.

Plain ASGI, so that a body is counted while it streams and an answer streams through. An answer that does not begin in
time is told so; the work behind it is waited for all the same, so that nothing is left running unseen and a shutdown
finds everything finished.
"""

from __future__ import annotations

import asyncio
import logging
import time
from http.cookies import CookieError, SimpleCookie
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.formparsers import MultiPartException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from roughly.report.visible import label
from roughly.service.answering import answer
from roughly.service.config import Config
from roughly.service.error_responses import ErrorResponse, broken, busy, refusal_of
from roughly.service.limits import RateLimit
from roughly.service.metrics import Metrics
from roughly.service.request_stream import ClientGone, RequestStream
from roughly.service.security import (
    COOKIE,
    FIELD,
    FORM_COOKIE,
    Authenticator,
    LoginSession,
    Right,
    cookie_header,
    enough,
    is_elsewhere,
    is_for_programs,
    right_needed,
)

ACCESS = logging.getLogger("roughly.service.access")
PROBLEMS = logging.getLogger("roughly.service")
_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))


class Guard:
    """The outermost part of the application."""

    def __init__(
        self, app: ASGIApp, *, config: Config, keeper: Authenticator, metrics: Metrics, wrong: RateLimit
    ) -> None:
        self._app, self._config, self._keeper, self._metrics = app, config, keeper, metrics
        self._rate = RateLimit(config.rate, max(1.0, 2 * config.rate))
        self._wrong = wrong

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = RequestStream(scope, receive, send, self._config)
        start = time.perf_counter()
        self._metrics.begun()
        try:
            await self._guarded(scope, exchange)
        except ClientGone:
            pass
        finally:
            seconds = time.perf_counter() - start
            route = getattr(scope.get("route"), "path", "other")
            method = scope["method"] if scope["method"] in _METHODS else "OTHER"
            self._metrics.ended(method, route, exchange.status, seconds)
            self._log(scope, exchange, seconds)

    def _log(self, scope: Scope, exchange: RequestStream, seconds: float) -> None:
        """One line: no token, no query (it may hold text), nothing in the path that would act on a terminal."""
        address = (scope.get("client") or ("-",))[0]
        who = scope["state"].get("caller", "-")
        path = label(scope["path"], 120)
        ACCESS.info(
            "%s %s %s %s %d %d bytes %.1f ms", address, who, label(scope["method"], 10), path, exchange.status,
            exchange.bytes_sent, 1000 * seconds,
        )  # fmt: skip

    async def _guarded(self, scope: Scope, exchange: RequestStream) -> None:
        state: dict[str, Any] = scope.setdefault("state", {})
        state.update(csrf="", right=None, caller="-")
        try:
            headers = Headers(scope=scope)
            self._check_place(scope, headers)
            session = self._admit(scope, headers, exchange)
            exchange.check_length(headers)
            receive: Receive = exchange.receive
            if _is_form(scope, headers):
                receive = await self._checked_form(scope, headers, exchange, session)
        except ErrorResponse as refused:
            await self._refuse(scope, exchange, refused)
            return
        await self._answered(scope, receive, exchange)

    # ------------------------------------------------------------------ before the answer

    def _check_place(self, scope: Scope, headers: Headers) -> None:
        host = headers.get("host", "")
        if not self._keeper.answers_to(host):
            raise ErrorResponse(
                403,
                f"this service is not known as {label(host, 60)}",
                "use its own address, or serve with --allow-host",
            )
        if is_elsewhere(scope["method"], host, headers.get("origin"), headers.get("sec-fetch-site")):
            raise ErrorResponse(
                403, "the request was sent by a page of another site", "open the page here, and send it again"
            )

    def _admit(self, scope: Scope, headers: Headers, exchange: RequestStream) -> LoginSession | None:
        """Find out who asks, and whether they may; the session where there is one."""
        state, address = scope["state"], str((scope.get("client") or ("-",))[0])
        needed = right_needed(scope["method"], scope["path"])
        cookies = _cookies(headers)
        session = self._keeper.session(cookies.get(COOKIE))
        right: Right | None = None if self._keeper.guarded else "admin"
        caller = address
        given = headers.get("authorization")
        if self._keeper.guarded and given is not None:
            right, caller = self._right_of(given, address, needed)
        elif self._keeper.guarded and session is not None:
            right, caller = session.right, session.name[:16]
        state["right"], state["caller"] = right, caller if caller != address else "-"
        if wait := self._rate.take(caller):
            raise busy(wait, "too many requests in a short time", "wait a moment, and come less often", 429)
        session = session or self._keeper.session(cookies.get(FORM_COOKIE))
        if session is None and not is_for_programs(scope["path"]) and not scope["path"].startswith("/static/"):
            session, cookie = self._keeper.begin(None)
            exchange.headers.append(cookie_header(FORM_COOKIE, cookie, scope["scheme"] == "https"))
        if session is not None:
            state["csrf"] = self._keeper.form_token(session)
        if not enough(right, needed):
            raise _not_allowed(right, needed)
        return session

    def _right_of(self, given: str, address: str, needed: Right | None) -> tuple[Right | None, str]:
        kind, _, token = given.partition(" ")
        token = token.strip()
        right = self._keeper.right_of(token) if kind.lower() == "bearer" else None
        if right is None and needed is not None:
            if wait := self._wrong.take(address):
                raise busy(wait, "too many wrong tokens from this address", "wait, and check the token", 429)
            raise ErrorResponse(
                401, "the token is not known", "check it; the service reads its tokens when it starts",
                {"www-authenticate": 'Bearer realm="roughly"'},
            )  # fmt: skip
        return right, self._keeper.caller(token)

    async def _checked_form(
        self, scope: Scope, headers: Headers, exchange: RequestStream, session: LoginSession | None
    ) -> Receive:
        """The body of a form whose secret field is right, to be read again."""
        body = await exchange.whole_body()

        def replay() -> Receive:
            sent = False

            async def receive() -> Message:
                nonlocal sent
                if sent:
                    return await exchange.receive()
                sent = True
                return {"type": "http.request", "body": body, "more_body": False}

            return receive

        given = headers.get("x-csrf-token")
        if given is None:
            try:
                async with Request(dict(scope), replay()).form() as form:
                    found = form.get(FIELD)
            except (MultiPartException, ErrorResponse) as problem:
                raise ErrorResponse(400, "the form cannot be read", "send it again from its page") from problem
            given = found if isinstance(found, str) else None
        if not self._keeper.is_form_token(session, given):
            raise ErrorResponse(
                403, "the form is too old, or was not made here", "open the page again, and send it from there"
            )
        return replay()

    # ------------------------------------------------------------------ the answer

    async def _answered(self, scope: Scope, receive: Receive, exchange: RequestStream) -> None:
        """Hand the request on, and see that an answer begins in time."""
        task = asyncio.ensure_future(self._handed_on(scope, receive, exchange))
        try:
            while not task.done():
                await asyncio.wait({task}, timeout=max(0.01, exchange.seconds_left()))
                if task.done() or exchange.started or exchange.seconds_left() > 0:
                    continue
                late = busy(
                    self._config.timeout, f"no answer within {self._config.timeout:g} s",
                    "what was asked may still be done; ask for less at once, or try again",
                )  # fmt: skip
                late.headers = {**(late.headers or {}), "connection": "close"}
                await self._refuse(scope, exchange, late)
                exchange.over = True
            await task
        except asyncio.CancelledError:
            task.cancel()
            raise

    async def _handed_on(self, scope: Scope, receive: Receive, exchange: RequestStream) -> None:
        try:
            await self._app(scope, receive, exchange.send)
        except ClientGone:
            raise
        except Exception as problem:
            refused = refusal_of(problem)
            if refused is None:
                refused = broken()
                PROBLEMS.exception("a request failed: %s %s", label(scope["method"], 10), label(scope["path"], 120))
            if exchange.started:
                raise ClientGone from problem  # what was sent is cut short, and the client sees it
            await self._refuse(scope, exchange, refused)

    async def _refuse(self, scope: Scope, exchange: RequestStream, refused: ErrorResponse) -> None:
        await exchange.pass_over()
        if is_for_programs(scope["path"]):
            response = answer(Request(scope), refused)  # at once, also where all threads are at work
        else:
            response = await run_in_threadpool(answer, Request(scope), refused)
        if not exchange.body_is_over:
            response.headers["connection"] = "close"  # what else comes is not a request
        await response(scope, exchange.receive, exchange.send)


def _is_form(scope: Scope, headers: Headers) -> bool:
    """Whether a browser posts to a page."""
    if scope["method"] in ("GET", "HEAD", "OPTIONS") or scope["path"].startswith("/api/"):
        return False
    return any(headers.get(name) is not None for name in ("cookie", "origin", "sec-fetch-site"))


def _cookies(headers: Headers) -> dict[str, str]:
    try:
        return {name: morsel.value for name, morsel in SimpleCookie(headers.get("cookie", "")).items()}
    except CookieError:
        return {}


def _not_allowed(right: Right | None, needed: Right | None) -> ErrorResponse:
    if right is None:
        return ErrorResponse(
            401, "a token is needed", "send it as `Authorization: Bearer TOKEN`, or sign in at /login",
            {"www-authenticate": 'Bearer realm="roughly"'},
        )  # fmt: skip
    return ErrorResponse(
        403, f"this needs the right to {needed}, and the token has the right to {right}", "use another token"
    )
