"""The page at /api: every endpoint, made of the OpenAPI description, without anyone else's script."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from roughly.service.explorer.rendering import show
from roughly.service.security import right_needed

router = APIRouter(include_in_schema=False)


@router.get("/api")
@router.get("/api.json")
def api(request: Request) -> Response:
    """What can be asked, how, and with which right."""
    described: dict[str, Any] = request.app.openapi()
    endpoints = [
        _endpoint(described, method.upper(), path, said)
        for path, ways in described["paths"].items()
        for method, said in ways.items()
    ]
    return show(request, "api.html", {"endpoints": endpoints, "version": described["info"]["version"]})


def _endpoint(described: dict[str, Any], method: str, path: str, said: dict[str, Any]) -> dict[str, Any]:
    content = said.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    listed = schema.get("type") == "array"
    name = str((schema.get("items", {}) if listed else schema).get("$ref", "")).rpartition("/")[2]
    model = described.get("components", {}).get("schemas", {}).get(name, {})
    needed = model.get("required", [])
    fields = [
        {"name": field, "kind": _kind(facts), "needed": field in needed, "said": facts.get("description", "")}
        for field, facts in model.get("properties", {}).items()
    ]
    asked = [
        {
            "name": one["name"], "kind": _kind(one.get("schema", {})), "needed": one.get("required", False),
            "said": one.get("description") or one.get("schema", {}).get("description", ""),
        }
        for one in said.get("parameters", [])
    ]  # fmt: skip
    return {
        "method": method, "path": path, "summary": said.get("summary", ""), "said": said.get("description", ""),
        "right": right_needed(method, path), "takes": sorted(content), "listed": listed, "fields": [*asked, *fields],
    }  # fmt: skip


def _kind(facts: dict[str, Any]) -> str:
    """The type of a field, in a word or two."""
    if "$ref" in facts:
        return str(facts["$ref"]).rpartition("/")[2].lower()
    if "enum" in facts:
        return ", ".join(map(str, facts["enum"]))
    if "anyOf" in facts:
        return " or ".join(_kind(one) for one in facts["anyOf"] if one.get("type") != "null")
    if facts.get("type") == "array":
        return f"list of {_kind(facts.get('items', {}))}"
    return str(facts.get("type", "any"))
