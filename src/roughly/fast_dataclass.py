"""`dataclass` with the same meaning as in the standard library, made in a fifteenth of the time.

The standard library compiles up to six methods for each class while it is imported. That was a seventh of a small run,
since such a run imports more than a hundred of these classes. Here, all classes share five methods, and `__init__` is
compiled when the first object is made. Types are checked as for the standard library's. What extends such a class is
made here too, since the standard library takes it for one that is not frozen.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, slots=False, kw_only=False, eq=True, repr=True):
        """Make a class with fields, as `dataclasses.dataclass` does."""

        def make(kind: type) -> type:
            return _made(kind, frozen=frozen, slots=slots, kw_only=kw_only, eq=eq, repr=repr)

        return make if cls is None else make(cls)


def _made(kind: type, *, frozen: bool, slots: bool, kw_only: bool, eq: bool, repr: bool) -> type:
    written = vars(kind)
    methods: dict[str, Any] = {"__init__": None}
    if repr:
        methods["__repr__"] = _repr
    if eq:
        methods |= {"__eq__": _equal, "__hash__": _hash if frozen else None}
    if frozen:
        methods |= {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
        if slots:
            methods |= {"__getstate__": _state, "__setstate__": _set_state}
    methods = {name: method for name, method in methods.items() if name not in written}
    if not kind.__doc__:
        kind.__doc__ = kind.__name__  # else the signature is looked for
    made: type = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)(kind)
    if "__init__" in methods:
        methods["__init__"] = _first_init(made, frozen)
    for name, method in methods.items():
        setattr(made, name, method)
    return made


def _first_init(kind: type, frozen: bool) -> Callable[..., None]:
    """An `__init__` that puts the compiled one into its place."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        compiled = _compiled_init(kind, frozen)
        kind.__init__ = compiled  # type: ignore[misc]
        compiled(self, *args, **kwargs)

    return __init__


def _compiled_init(kind: Any, frozen: bool) -> Callable[..., None]:
    names: dict[str, Any] = {"MISSING": dataclasses.MISSING, "set_field": object.__setattr__}
    parameters: dict[bool, list[str]] = {False: [], True: []}
    lines = []
    for field in dataclasses.fields(kind):
        value = parameter = field.name
        if field.default_factory is not dataclasses.MISSING:
            names[f"make_{field.name}"] = field.default_factory
            parameter = f"{field.name}=MISSING"
            value = f"make_{field.name}() if {field.name} is MISSING else {field.name}"
        elif field.default is not dataclasses.MISSING:
            names[f"default_{field.name}"] = field.default
            parameter = f"{field.name}=default_{field.name}"
        if field.init:
            parameters[bool(field.kw_only)].append(parameter)
        elif field.default_factory is not dataclasses.MISSING:
            value = f"make_{field.name}()"
        else:
            continue  # its default is an attribute of the class, or __post_init__ sets it
        lines.append(f"set_field(self, {field.name!r}, {value})" if frozen else f"self.{field.name} = {value}")
    if hasattr(kind, "__post_init__"):
        lines.append("self.__post_init__()")
    only_by_name = ["*", *parameters[True]] if parameters[True] else []
    head = f"def __init__({', '.join(['self', *parameters[False], *only_by_name])}):"
    exec("\n ".join([head, *(lines or ["pass"])]), names)
    made: Callable[..., None] = names["__init__"]
    made.__qualname__ = f"{kind.__qualname__}.__init__"
    return made


@cache
def _compared(kind: Any) -> Callable[[Any], Any]:
    """The fields of an object that decide whether it equals another."""
    names = [field.name for field in dataclasses.fields(kind) if field.compare]
    return attrgetter(*names) if names else lambda _: ()


def _equal(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    compared = _compared(self.__class__)
    return bool(compared(self) == compared(other))


def _hash(self: Any) -> int:
    return hash(_compared(self.__class__)(self))


def _repr(self: Any) -> str:
    shown = (f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self) if field.repr)
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


def _refuse_to_set(self: Any, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: Any, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)
