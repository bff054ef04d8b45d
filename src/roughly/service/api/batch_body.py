"""Many documents in one request: a JSON list, or one document per line."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import orjson
from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from roughly.errors import RoughlyError
from roughly.service.error_responses import ErrorResponse
from roughly.service.index_writer import check_storable
from roughly.service.limits import check_count, is_too_long, text_too_long
from roughly.service.markup_trial import MarkupTrial
from roughly.service.ndjson import refused_line, split_lines
from roughly.service.request_models import QueryDocument
from roughly.service.request_stream import NDJSON, media_type
from roughly.service.service_config import ServiceConfig
from roughly.settings import ReadOptions

_TOO_DEEP = b"[" * 1_000


async def documents_of(request: Request, config: ServiceConfig) -> AsyncIterator[bytes]:
    """The documents of a request, each as JSON."""
    kind = media_type(request.headers)
    if kind in NDJSON:
        return split_lines(request.stream(), config.max_body)
    if kind != "application/json":
        raise ErrorResponse(
            415, "the documents are neither JSON nor lines of JSON", "send Content-Type: application/x-ndjson, or json"
        )
    try:
        listed = orjson.loads(await request.body())
    except orjson.JSONDecodeError:
        raise ErrorResponse(
            400, "the request is not valid JSON", "send a list of documents, or one document per line"
        ) from None
    if not isinstance(listed, list):
        raise ErrorResponse(422, "the request is not a list", "send a list of documents, or one document per line")
    check_count(config, len(listed), "documents")
    return _each(listed)


async def _each(listed: list[Any]) -> AsyncIterator[bytes]:
    for item in listed:
        try:
            yield orjson.dumps(item)
        except orjson.JSONEncodeError:  # it is nested more deeply than orjson can write; the model refuses that as well
            yield _TOO_DEEP


class Batch:
    """Documents parsed from lines: the valid ones, and the errors of the others."""

    def __init__(
        self,
        lines: list[bytes],
        model: type[QueryDocument],
        config: ServiceConfig,
        reading: ReadOptions,
        *,
        stored: bool,
    ) -> None:
        self._documents: dict[int, dict[str, Any]] = {}
        self._errors: dict[int, dict[str, Any]] = {}
        self._count = len(lines)
        for place, line in enumerate(lines):
            try:
                document = self._documents[place] = _parse(line, model, config, reading)
                if stored or reading.features is not None:
                    check_storable([document], reading, named=stored)
            except (ErrorResponse, RoughlyError, RequestValidationError) as problem:
                self._documents.pop(place, None)
                self._errors[place] = refused_line(problem)

    async def refuse_slow_markup(self, trial: MarkupTrial) -> None:
        """Move documents whose markup takes too long to the errors."""
        for place, document in list(self._documents.items()):
            try:
                await trial.check([document])
            except (ErrorResponse, RoughlyError) as problem:
                self._errors[place] = refused_line(problem)
                del self._documents[place]

    @property
    def valid(self) -> list[dict[str, Any]]:
        """The valid documents, in the order of the lines."""
        return list(self._documents.values())

    @property
    def refused(self) -> int:
        """How many are invalid."""
        return len(self._errors)

    def answers(self, valid: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """An answer per line: those given to the valid documents, and the errors of the others."""
        rest = iter(valid)
        return [self._errors[place] if place in self._errors else next(rest) for place in range(self._count)]


def _parse(line: bytes, model: type[QueryDocument], config: ServiceConfig, reading: ReadOptions) -> dict[str, Any]:
    try:
        parsed = model.model_validate_json(line)
    except ValidationError as problem:
        raise RequestValidationError(problem.errors(include_url=False, include_input=False)) from None
    parsed.check_kind(reading)
    document = parsed.model_dump()
    if is_too_long(config, document["text"]):
        raise text_too_long(config)
    return document


def _body(name: str) -> dict[str, Any]:
    one = {"$ref": f"#/components/schemas/{name}"}
    return {
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {"schema": {"type": "array", "items": one}},
                "application/x-ndjson": {"schema": {"type": "string", "description": "One document per line."}},
            },
        }
    }


BATCH: dict[str, Any] = {
    "response_model": None,
    "openapi_extra": _body("NewDocument"),
    "responses": {200: {"content": {"application/x-ndjson": {}}, "description": "One answer per line."}},
}
"""The OpenAPI description of an endpoint that takes many documents."""
