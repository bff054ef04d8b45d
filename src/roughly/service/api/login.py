"""Signing in with a browser: a token is traded for a cookie."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from roughly.service.error_responses import busy
from roughly.service.explorer.rendering import show
from roughly.service.security import COOKIE, Authenticator, cookie_header, local_path

router = APIRouter(include_in_schema=False)


@router.get("/login")
def login_page(request: Request, next: str = "/") -> Response:
    """The form."""
    keeper: Authenticator = request.app.state.keeper
    shown = {"next": local_path(next), "wrong": False, "guarded": keeper.guarded, "right": request.state.right}
    return show(request, "login.html", shown)


@router.post("/login")
async def login(request: Request, token: Annotated[str, Form()], next: Annotated[str, Form()] = "/") -> Response:
    """The cookie, and on to where one wanted to go."""
    keeper: Authenticator = request.app.state.keeper
    right = keeper.right_of(token.strip())
    if right is None:
        if wait := request.app.state.wrong.take(request.client.host if request.client else "-"):
            raise busy(wait, "too many wrong tokens from this address", "wait, and check the token", 429)
        shown = {"next": local_path(next), "wrong": True, "guarded": keeper.guarded, "right": None}
        return show(request, "login.html", shown, 401)
    _, cookie = keeper.begin(right)
    response = RedirectResponse(local_path(next), 303)
    response.raw_headers.append(cookie_header(COOKIE, cookie, request.url.scheme == "https"))
    return response


@router.post("/logout")
async def logout(request: Request) -> Response:
    """The cookie is taken back."""
    response = RedirectResponse("/login", 303)
    response.raw_headers.append(cookie_header(COOKIE, "", request.url.scheme == "https", 0))
    return response
