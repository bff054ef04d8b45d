"""The outermost middleware: host names, callers, rights, rates, sizes, time, headers, the log.

It is plain ASGI, so that a body is counted while it streams and a response streams through. If a response does not
begin in time, the client gets an error, and the request is cancelled: work that waits for a thread, for a trial of its
markup or to be added is not begun. Work that a thread has begun cannot be ended; the guard waits for it, so that
nothing runs unseen and a shutdown finds everything finished.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

import anyio
import anyio.to_thread
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import HTTPConnection, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from roughly.query_time import limit_queries
from roughly.report.visible import label
from roughly.service.error_rendering import render_error
from roughly.service.error_responses import PROBLEMS, ErrorResponse, internal_error, retry_later, to_error_response
from roughly.service.limits import RateLimit
from roughly.service.request_stream import ClientGone, RequestStream
from roughly.service.security import (
    COOKIE,
    FIELD,
    FORM_COOKIE,
    Authenticator,
    LoginSession,
    Right,
    cookie_header,
    includes,
    is_cross_site,
    is_for_programs,
    right_needed,
)
from roughly.service.service_config import ServiceConfig
from roughly.service.service_metrics import Metrics

ACCESS = logging.getLogger("roughly.service.access")
_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))


class Guard:
    """The outermost part of the application."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        config: ServiceConfig,
        authenticator: Authenticator,
        metrics: Metrics,
        unknown_tokens: RateLimit,
        reserved_threads: anyio.CapacityLimiter,
    ) -> None:
        self._app, self._config, self._authenticator, self._metrics = app, config, authenticator, metrics
        self._rate = RateLimit(config.rate, max(1.0, 2 * config.rate))
        self._unknown_tokens, self._reserved_threads = unknown_tokens, reserved_threads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        stream = RequestStream(scope, receive, send, self._config)
        start = time.perf_counter()
        self._metrics.begin_request()
        try:
            await self._handle(scope, stream)
        except ClientGone:
            pass
        finally:
            seconds = time.perf_counter() - start
            route = getattr(scope.get("route"), "path", "other")
            method = scope["method"] if scope["method"] in _METHODS else "OTHER"
            self._metrics.end_request(method, route, stream.status, seconds)
            self._log(scope, stream, seconds)

    def _log(self, scope: Scope, stream: RequestStream, seconds: float) -> None:
        """One line per request: no token, no query (it may contain text), no control characters in the path."""
        address = (scope.get("client") or ("-",))[0]
        caller = scope["state"].get("caller", "-")
        path = label(scope["path"], 120)
        ACCESS.info(
            "%s %s %s %s %d %d bytes %.1f ms", address, caller, label(scope["method"], 10), path, stream.status,
            stream.bytes_sent, 1000 * seconds,
        )  # fmt: skip

    async def _handle(self, scope: Scope, stream: RequestStream) -> None:
        state: dict[str, Any] = scope.setdefault("state", {})
        state.update(csrf="", right=None, caller="-")
        try:
            headers = Headers(scope=scope)
            self._check_site(scope, headers)
            session = self._authorise(scope, headers, stream)
            stream.check_length(headers)
            receive: Receive = stream.receive
            if _is_form(scope, headers):
                receive = await self._check_form(scope, headers, stream, session)
        except ErrorResponse as error:
            await self._refuse(scope, stream, error)
            return
        await self._respond(scope, receive, stream)

    # ------------------------------------------------------------------ before the response

    def _check_site(self, scope: Scope, headers: Headers) -> None:
        try:
            scope.get("query_string", b"").decode()
        except UnicodeDecodeError:
            raise ErrorResponse(400, "the address is not UTF-8", "encode its characters, as in %C3%A9") from None
        host = headers.get("host", "")
        if not self._authenticator.is_known_host(host):
            raise ErrorResponse(
                403,
                f"this service is not known as {label(host, 60)}",
                "use its own address, or serve with --allow-host",
            )
        if is_cross_site(scope["method"], host, headers.get("origin"), headers.get("sec-fetch-site")):
            raise ErrorResponse(
                403, "a page of another site sent the request", "open the page of this service, and send it again"
            )

    def _authorise(self, scope: Scope, headers: Headers, stream: RequestStream) -> LoginSession | None:
        """Identify the caller and check the right; returns the session, if there is one."""
        state, address = scope["state"], str((scope.get("client") or ("-",))[0])
        needed = right_needed(scope["method"], scope["path"])
        cookies = HTTPConnection(scope).cookies
        session = self._authenticator.session(cookies.get(COOKIE))
        right: Right | None = None if self._authenticator.guarded else "admin"
        caller = address
        authorization = headers.get("authorization")
        if self._authenticator.guarded and authorization is not None:
            right, caller = self._right_of(authorization, address, needed)
        elif self._authenticator.guarded and session is not None:
            right, caller = session.right, session.name[:16]
        state["right"], state["caller"] = right, caller if caller != address else "-"
        if wait := self._rate.take(caller):
            raise retry_later(wait, "too many requests in a short time", "wait a moment, and send fewer", 429)
        session = session or self._authenticator.session(cookies.get(FORM_COOKIE))
        if session is None and not is_for_programs(scope["path"]) and not scope["path"].startswith("/static/"):
            session, cookie = self._authenticator.begin_session(None)
            stream.headers.append(cookie_header(FORM_COOKIE, cookie, scope["scheme"] == "https"))
        if session is not None:
            state["csrf"] = self._authenticator.form_token(session)
        if not includes(right, needed):
            raise _not_allowed(right, needed)
        return session

    def _right_of(self, authorization: str, address: str, needed: Right | None) -> tuple[Right | None, str]:
        kind, _, token = authorization.partition(" ")
        token = token.strip()
        right = self._authenticator.right_of(token) if kind.lower() == "bearer" else None
        if right is None and needed is not None:
            if wait := self._unknown_tokens.take(address):
                raise retry_later(wait, "too many wrong tokens from this address", "wait, and check the token", 429)
            raise ErrorResponse(
                401, "the token is not known", "check it; the service reads its tokens when it starts",
                {"www-authenticate": 'Bearer realm="roughly"'},
            )  # fmt: skip
        return right, self._authenticator.caller(token)

    async def _check_form(
        self, scope: Scope, headers: Headers, stream: RequestStream, session: LoginSession | None
    ) -> Receive:
        """Check the hidden field of a form; returns the body, to be read again."""
        body = await stream.whole_body()

        def replay() -> Receive:
            sent = False

            async def receive() -> Message:
                nonlocal sent
                if sent:
                    return await stream.receive()
                sent = True
                return {"type": "http.request", "body": body, "more_body": False}

            return receive

        form_token = headers.get("x-csrf-token")
        if form_token is None:
            try:
                async with Request(dict(scope), replay()).form() as form:
                    found = form.get(FIELD)
            except (MultiPartException, HTTPException, ErrorResponse) as problem:
                raise ErrorResponse(400, "the form cannot be read", "send it again from its page") from problem
            form_token = found if isinstance(found, str) else None
        if not self._authenticator.is_form_token(session, form_token):
            raise ErrorResponse(
                403, "the form has expired, or is not of this service", "open the page again, and send it from there"
            )
        return replay()

    # ------------------------------------------------------------------ the response

    async def _respond(self, scope: Scope, receive: Receive, stream: RequestStream) -> None:
        """Pass the request on, and send an error if no response begins in time."""
        task = asyncio.ensure_future(self._call_app(scope, receive, stream))
        try:
            while not task.done():
                await asyncio.wait({task}, timeout=max(0.01, stream.seconds_left()))
                if task.done() or stream.started or stream.seconds_left() > 0:
                    continue
                late = retry_later(
                    self._config.timeout, f"no answer within {self._config.timeout:g} s",
                    "the request may still be carried out; send less at once, or try again",
                )  # fmt: skip
                late.headers = {**(late.headers or {}), "connection": "close"}
                await self._refuse(scope, stream, late)
                stream.ended = True
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                return
            await task
        except asyncio.CancelledError:
            task.cancel()
            raise

    async def _call_app(self, scope: Scope, receive: Receive, stream: RequestStream) -> None:
        limit_queries(stream.seconds_for_queries)
        try:
            await self._app(scope, receive, stream.send)
        except ClientGone:
            raise
        except Exception as problem:
            error = to_error_response(problem)
            if error is None:
                error = internal_error()
                PROBLEMS.exception("a request failed: %s %s", label(scope["method"], 10), label(scope["path"], 120))
            if stream.started:
                raise ClientGone from problem  # the response ends early, and the client notices
            await self._refuse(scope, stream, error)

    async def _refuse(self, scope: Scope, stream: RequestStream, error: ErrorResponse) -> None:
        if is_for_programs(scope["path"]):
            response = render_error(Request(scope), error)  # at once, even if all threads are busy
        else:
            response = await anyio.to_thread.run_sync(
                render_error, Request(scope), error, limiter=self._reserved_threads
            )
        if stream.body_ended:
            await response(scope, stream.receive, stream.send)
            return
        response.headers["connection"] = "close"  # the bytes that follow are not a request
        await response(scope, stream.receive, stream.send_all_but_end)
        await stream.discard_body()
        await stream.send({"type": "http.response.body", "body": b"", "more_body": False})


def _is_form(scope: Scope, headers: Headers) -> bool:
    """Whether a browser posts to a page."""
    if scope["method"] in ("GET", "HEAD", "OPTIONS") or scope["path"].startswith("/api/"):
        return False
    return any(headers.get(name) is not None for name in ("cookie", "origin", "sec-fetch-site"))


def _not_allowed(right: Right | None, needed: Right | None) -> ErrorResponse:
    if right is None:
        return ErrorResponse(
            401, "a token is needed", "send it as `Authorization: Bearer TOKEN`, or sign in at /login",
            {"www-authenticate": 'Bearer realm="roughly"'},
        )  # fmt: skip
    return ErrorResponse(
        403, f"this needs the right to {needed}, and the token has the right to {right}", "use another token"
    )
