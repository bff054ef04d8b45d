"""Errors as responses: a status code, one sentence, and a remedy. Never a traceback.

| code | meaning |
|---|---|
| 400 | the request cannot be read |
| 401, 403 | a token is needed; the token does not have the right; or another site sent the request |
| 404 | no such page, document, cluster |
| 408 | the rest of the request did not arrive |
| 409 | what is served cannot do that: a run takes no documents, two results have one id |
| 413 | above a limit: bytes, documents, length of a text |
| 422 | the request was read, and a value in it is not valid, or its query takes too long |
| 429 | too many requests; `Retry-After` says when to try again |
| 503 | the database is unreachable or busy, the disk is full, or it took too long |
"""

from __future__ import annotations

import logging
import math
import re
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from roughly.errors import (
    DiskFull,
    DuplicateIds,
    IndexAway,
    IndexDamaged,
    IndexRefused,
    InputError,
    InputMissing,
    MemoryTooSmall,
    OutputError,
    QueryTooSlow,
    RoughlyError,
    SettingsError,
    TooManyPairs,
)
from roughly.report.visible import label

PROBLEMS = logging.getLogger("roughly.service")
_ADDRESS = re.compile(r"postgres(?:ql)?(?:\+psycopg)?://[^\s`'\",;]+")
RETRY_SECONDS = 5
_CODES: tuple[tuple[type[RoughlyError], int], ...] = (
    (InputMissing, 404),
    (DuplicateIds, 409),
    (IndexRefused, 409),
    (IndexDamaged, 503),
    (InputError, 422),
    (SettingsError, 422),
    (TooManyPairs, 422),
    (QueryTooSlow, 422),
    (IndexAway, 503),
    (DiskFull, 503),
    (MemoryTooSmall, 503),
    (OutputError, 503),
)
_MESSAGES = {
    404: ("there is nothing at this address", "the page / and the list at /api show what there is"),
    405: ("this address does not take this method", "see the list at /api"),
}
_TITLES = {
    400: "That could not be read", 401: "A token is needed", 403: "Not allowed", 404: "Not found", 408: "Too slow",
    409: "Not possible here", 413: "Too much at once", 422: "Please check the request", 429: "Too many requests",
    500: "Something broke", 503: "Not now",
}  # fmt: skip


class ErrorResponse(HTTPException):
    """An error of the service itself, raised to be sent as the response.

    It is an HTTPException because FastAPI treats any other error while it reads a request as a malformed request.
    """

    def __init__(
        self, status: int, error: str, remedy: str | None = None, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(status, error, headers or {})
        self.status, self.error, self.remedy = status, error, remedy

    @property
    def title(self) -> str:
        """The heading of the page that shows it."""
        return _TITLES.get(self.status, "That did not work")

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {"error": self.error} | ({} if self.remedy is None else {"remedy": self.remedy})


def to_error_response(problem: Exception) -> ErrorResponse | None:
    """The response to an expected error; None for an unexpected one."""
    if isinstance(problem, ErrorResponse):
        return problem
    if isinstance(problem, RequestValidationError):
        return _invalid_request(problem)
    if isinstance(problem, HTTPException):
        message, remedy = _MESSAGES.get(problem.status_code, (str(problem.detail), None))
        return ErrorResponse(problem.status_code, message, remedy, dict(problem.headers or {}))
    if isinstance(problem, RoughlyError):
        return _roughly_error(problem)
    return None


def internal_error() -> ErrorResponse:
    """The response to an unexpected error."""
    return ErrorResponse(500, "the service failed on this request", "its log says why; please report it")


def retry_later(seconds: float, error: str, remedy: str, status: int = 503) -> ErrorResponse:
    """A response that says when to try again."""
    return ErrorResponse(status, error, remedy, {"retry-after": str(max(1, math.ceil(seconds)))})


def without_address(message: str) -> str:
    """A message without the address of a database, which callers who may only query it must not see."""
    return _ADDRESS.sub("INDEX", message)


def _roughly_error(problem: RoughlyError) -> ErrorResponse:
    status = next((code for kind, code in _CODES if isinstance(problem, kind)), 500)
    if isinstance(problem, SettingsError):
        return ErrorResponse(status, without_address("; ".join(problem.problems)))
    if isinstance(problem, IndexAway):  # the message has the address of the database, and what its server said
        PROBLEMS.warning("%s", label(str(problem), 500))
        return retry_later(RETRY_SECONDS, "the database of the index cannot be reached, or is busy", "try again later")
    error, _, remedy = without_address(str(problem)).partition("; ")
    headers = {"retry-after": str(RETRY_SECONDS)} if status == 503 else {}
    return ErrorResponse(status, error, remedy or None, headers)


def _invalid_request(problem: RequestValidationError) -> ErrorResponse:
    """Which field is wrong and why. The value is not repeated: it may be long, and may not be text."""
    messages = []
    for one in problem.errors()[:5]:
        place = ".".join(label(str(part), 40) for part in one["loc"] if part != "body")
        if one["type"] == "json_invalid" and "recursion limit" in str(one.get("ctx", "")):
            return ErrorResponse(400, "it is nested too deeply", "the list at /api shows what to send")
        if one["type"] == "json_invalid":
            return ErrorResponse(
                400, "it is not valid JSON, or not valid Unicode", "the list at /api shows what to send"
            )
        messages.append(f"{place or 'the request'}: {_field_error(one)}")
    return ErrorResponse(
        422, "; ".join(messages) or "the request is not valid", "see the list at /api for what is wanted"
    )


def _field_error(one: dict[str, Any]) -> str:
    kind = str(one["type"])
    if kind == "missing":
        return "is missing"
    if kind in ("string_unicode", "value_error.unicodedecode"):
        return "is not valid Unicode (half of a surrogate pair); repair it first"
    return label(str(one["msg"]).removeprefix("Value error, "), 200)
