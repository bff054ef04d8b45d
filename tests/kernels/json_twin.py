"""The kernel of JSON lines once more in plain Python: a recursive reader with regular expressions for a lexer."""

from __future__ import annotations

import json
import re

SPACE = re.compile(rb"[ \t\r\n]*")
STRING = re.compile(rb'"((?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*)"')
NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
LITERAL = re.compile(rb"null|true|false")
WHOLE = re.compile(rb"0|-?[1-9][0-9]{0,17}")
DEEPEST = 60


class Unsure(Exception):
    """The line is left to a slower reader."""


class Line:
    """One line and a position in it."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def space(self) -> None:
        self.at = SPACE.match(self.data, self.at).end()

    def peek(self) -> bytes:
        return self.data[self.at : self.at + 1]

    def expect(self, letter: bytes) -> None:
        if self.peek() != letter:
            raise Unsure
        self.at += 1

    def match(self, pattern: re.Pattern[bytes]) -> bytes:
        found = pattern.match(self.data, self.at)
        if found is None:
            raise Unsure
        self.at = found.end()
        return found[0]

    def string(self) -> bytes:
        """The string's bytes, unescaped; other bytes than ASCII stay as they are."""
        token = self.match(STRING)
        made = b""
        for plain, escape in re.findall(rb'([^\\"]+)|((?:\\u[0-9a-fA-F]{4})+|\\.)', token):
            try:
                made += plain or json.loads(b'"' + escape + b'"').encode()
            except UnicodeEncodeError:  # a lone surrogate
                raise Unsure from None
        return made

    def number(self) -> bytes:
        token = self.match(NUMBER)
        exponent = re.search(rb"[eE][+-]?([0-9]+)", token)
        if len(token) > 32 or (exponent and len(exponent[1]) > 2):
            raise Unsure
        return token

    def value(self, depth: int = 0) -> None:
        if self.peek() == b'"':
            self.string()
        elif self.peek() in (b"n", b"t", b"f"):
            self.match(LITERAL)
        elif self.peek() and self.peek() in b"[{":
            self.inside(depth + 1)
        else:
            self.number()

    def inside(self, depth: int) -> None:
        if depth > DEEPEST:
            raise Unsure
        is_object = self.peek() == b"{"
        close = b"}" if is_object else b"]"
        self.at += 1
        self.space()
        if self.peek() == close:
            self.at += 1
            return
        while True:
            if is_object:
                self.string()
                self.space()
                self.expect(b":")
                self.space()
            self.value(depth)
            self.space()
            if self.peek() == close:
                self.at += 1
                return
            self.expect(b",")
            self.space()

    def wanted(self, is_text: bool) -> bytes | None:
        if self.peek() == b'"':
            return self.string()
        if is_text:
            raise Unsure
        if self.peek() == b"n":
            if self.match(LITERAL) != b"null":
                raise Unsure
            return None
        token = self.number()
        if not WHOLE.fullmatch(token):
            raise Unsure
        return token


def read_line(data: bytes, keys: list[bytes]) -> list[bytes | None] | None:
    """Values of the wanted keys; the first is the text's. None where the line is left."""
    try:
        data.decode()
        return _read_object(Line(data), keys)
    except (Unsure, UnicodeDecodeError):
        return None


def _read_object(line: Line, keys: list[bytes]) -> list[bytes | None]:
    found: dict[bytes, bytes | None] = {}
    line.space()
    line.expect(b"{")
    line.space()
    while True:
        key = line.match(STRING)[1:-1]
        if b"\\" in key:
            raise Unsure
        line.space()
        line.expect(b":")
        line.space()
        if key in found:
            raise Unsure
        if key in keys:
            found[key] = line.wanted(key == keys[0])
        else:
            line.value()
        line.space()
        if line.peek() == b"}":
            break
        line.expect(b",")
        line.space()
    line.at += 1
    line.space()
    if line.at != len(line.data) or keys[0] not in found:
        raise Unsure
    return [found.get(key) for key in keys]
