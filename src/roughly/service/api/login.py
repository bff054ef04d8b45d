"""Signing in with a browser: a token is exchanged for a cookie."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from roughly.service.error_responses import retry_later
from roughly.service.explorer.rendering import show
from roughly.service.security import COOKIE, Authenticator, Right, cookie_header, local_path

router = APIRouter(include_in_schema=False)


@router.get("/login")
def login_page(request: Request, next: str = "/") -> Response:
    """The form."""
    return _form(request, next, request.state.right)


@router.post("/login")
async def login(request: Request, token: Annotated[str, Form()], next: Annotated[str, Form()] = "/") -> Response:
    """Set the cookie, and redirect to where the visitor wanted to go."""
    authenticator: Authenticator = request.app.state.authenticator
    right = authenticator.right_of(token.strip())
    if right is None:
        if wait := request.app.state.unknown_tokens.take(request.client.host if request.client else "-"):
            raise retry_later(wait, "too many wrong tokens from this address", "wait, and check the token", 429)
        return _form(request, next, None, wrong=True)
    _, cookie = authenticator.begin_session(right)
    return _redirect(local_path(next), cookie_header(COOKIE, cookie, request.url.scheme == "https"))


@router.post("/logout")
async def logout(request: Request) -> Response:
    """Delete the cookie."""
    return _redirect("/login", cookie_header(COOKIE, "", request.url.scheme == "https", 0))


def _form(request: Request, next: str, right: Right | None, wrong: bool = False) -> Response:
    guarded = request.app.state.authenticator.guarded
    values = {"next": local_path(next), "wrong": wrong, "guarded": guarded, "right": right}
    return show(request, "login.html", values, 401 if wrong else 200)


def _redirect(path: str, cookie: tuple[bytes, bytes]) -> Response:
    response = RedirectResponse(path, 303)
    response.raw_headers.append(cookie)
    return response
