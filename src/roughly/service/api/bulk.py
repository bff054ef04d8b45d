"""Many documents in one request: a JSON list, or a document a line."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import orjson
from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError

from roughly.errors import RoughlyError
from roughly.service.config import Config
from roughly.service.error_responses import ErrorResponse
from roughly.service.limits import check_count, is_too_long, too_long
from roughly.service.ndjson import lines_of, refused_line
from roughly.service.writer import check_storable

LINES = ("application/x-ndjson", "application/jsonl")


async def documents_of(request: Request, config: Config) -> AsyncIterator[bytes]:
    """The documents of a request, each as JSON."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind in LINES:
        return lines_of(request.stream(), config.max_body)
    if kind != "application/json":
        raise ErrorResponse(
            415, "the documents are neither JSON nor lines of JSON", "send Content-Type: application/x-ndjson, or json"
        )
    try:
        listed = orjson.loads(await request.body())
    except orjson.JSONDecodeError:
        raise ErrorResponse(
            400, "the request is not valid JSON", "send a list of documents, or a document a line"
        ) from None
    if not isinstance(listed, list):
        raise ErrorResponse(422, "the request is not a list", "send a list of documents, or a document a line")
    check_count(config, len(listed), "documents")
    return _each(listed)


async def _each(listed: list[Any]) -> AsyncIterator[bytes]:
    for item in listed:
        yield orjson.dumps(item)


class Items:
    """Documents read from lines: the good ones, and what is wrong with the others."""

    def __init__(self, lines: list[bytes], model: type[BaseModel], config: Config, *, stored: bool) -> None:
        self.good: list[dict[str, Any]] = []
        self._wrong: dict[int, dict[str, Any]] = {}
        self._count = len(lines)
        for place, line in enumerate(lines):
            try:
                self.good.append(_read(line, model, config, stored))
            except (ErrorResponse, RoughlyError, RequestValidationError) as problem:
                self._wrong[place] = refused_line(problem)

    @property
    def refused(self) -> int:
        """How many cannot be used."""
        return len(self._wrong)

    def told(self, answers: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The answers to the good ones, and errors in the places of the others."""
        left = iter(answers)
        return [self._wrong[place] if place in self._wrong else next(left) for place in range(self._count)]


def _read(line: bytes, model: type[BaseModel], config: Config, stored: bool) -> dict[str, Any]:
    try:
        read = model.model_validate_json(line)
    except ValidationError as problem:
        raise RequestValidationError(problem.errors(include_url=False, include_input=False)) from None
    document = read.model_dump()
    if is_too_long(config, document["text"]):
        raise too_long(config)
    if stored:
        check_storable([document])
    return document


def _body(name: str) -> dict[str, Any]:
    one = {"$ref": f"#/components/schemas/{name}"}
    return {
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {"schema": {"type": "array", "items": one}},
                "application/x-ndjson": {"schema": {"type": "string", "description": "A document a line."}},
            },
        }
    }


BULK: dict[str, Any] = {
    "response_model": None,
    "openapi_extra": _body("NewDocument"),
    "responses": {200: {"content": {"application/x-ndjson": {}}, "description": "An answer a line."}},
}
"""What OpenAPI is told of an endpoint that takes many documents."""
