"""Settings in a TOML file, as `roughly tune` writes them and `roughly dedupe --settings` reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from roughly import checks
from roughly.errors import InputError, InputMissing, OutputError, OutputExists, SettingsError, first_line
from roughly.features.sampling import Sampling


def write_settings(path: Path, settings: dict[str, Any], comment: str, overwrite: bool = False) -> None:
    """Write plain values, with a comment above them."""
    if path.exists() and not overwrite:
        raise OutputExists(f"{path} exists; add --overwrite to replace it, or choose another name")
    try:
        path.write_text(settings_text(settings, comment), encoding="utf-8")
    except OSError as problem:
        raise OutputError(f"cannot write {path}: {problem.strerror}; choose another name") from problem


def settings_text(settings: dict[str, Any], comment: str) -> str:
    """Plain values as TOML, with a comment above them."""
    lines = [f"# {line}".rstrip() for line in comment.splitlines()]
    lines += [f"{name} = {_written(value)}" for name, value in settings.items()]
    return "\n".join(lines) + "\n"


def read_settings(path: Path) -> dict[str, Any]:
    """The values of a settings file."""
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputMissing(f"no such file: {path}; make one with `roughly tune`") from None
    except (OSError, ValueError, RecursionError) as problem:
        raise InputError(f"{path} cannot be read as TOML: {first_line(problem)}") from problem


def read_sampling(path: Path) -> tuple[Sampling, int]:
    """The sampling and the size of shingles in a settings file."""
    values = read_settings(path)
    if "sketch" not in values or "shingle_size" not in values:
        raise SettingsError(
            f"{path} says neither sketch nor shingle_size, or one only; `roughly tune --sampling` writes both"
        )
    size, seed = values["shingle_size"], values.get("seed", 0)
    checks.refuse([*checks.whole("shingle_size", size, 1, 64), *checks.whole("seed", seed, 0, 2**63 - 1)])
    return Sampling.parse(values["sketch"], values.get("groups", ()), seed), size


def _written(value: Any) -> str:
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_written(item) for item in value) + "]"
    return repr(value)
