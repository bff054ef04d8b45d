"""The page at /api: every endpoint, rendered from the OpenAPI description without a script from elsewhere."""

from __future__ import annotations

import re
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from roughly.service.explorer.rendering import show
from roughly.service.security import right_needed

router = APIRouter(include_in_schema=False)


@router.get("/api")
@router.get("/api.json")
def api(request: Request) -> Response:
    """The endpoints, their parameters, and the right that each needs."""
    description: dict[str, Any] = request.app.openapi()
    endpoints = [
        _endpoint(description, method.upper(), path, operation)
        for path, operations in description["paths"].items()
        for method, operation in operations.items()
    ]
    return show(request, "api.html", {"endpoints": endpoints, "version": description["info"]["version"]})


def _endpoint(description: dict[str, Any], method: str, path: str, operation: dict[str, Any]) -> dict[str, Any]:
    content = operation.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    listed = schema.get("type") == "array"
    name = str((schema.get("items", {}) if listed else schema).get("$ref", "")).rpartition("/")[2]
    model = description.get("components", {}).get("schemas", {}).get(name, {})
    needed = model.get("required", [])
    fields = [
        {"name": field, "kind": _kind(facts), "needed": field in needed, "said": facts.get("description", "")}
        for field, facts in model.get("properties", {}).items()
    ]
    parameters = [
        {
            "name": one["name"], "kind": _kind(one.get("schema", {})), "needed": one.get("required", False),
            "said": one.get("description") or one.get("schema", {}).get("description", ""),
        }
        for one in operation.get("parameters", [])
    ]  # fmt: skip
    return {
        "method": method,
        "path": path,
        "summary": operation.get("summary", ""),
        "said": operation.get("description", ""),
        "right": right_needed(method, path),
        "takes": sorted(content),
        "listed": listed,
        "fields": [*parameters, *fields],
    }


def _kind(facts: dict[str, Any]) -> str:
    """The type of a field, in a word or two."""
    if "$ref" in facts:
        name = str(facts["$ref"]).rpartition("/")[2]
        return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
    if "enum" in facts:
        return ", ".join(map(str, facts["enum"]))
    if "anyOf" in facts:
        return " or ".join(_kind(one) for one in facts["anyOf"] if one.get("type") != "null")
    if facts.get("type") == "array":
        return f"list of {_kind(facts.get('items', {}))}"
    return str(facts.get("type", "any"))
