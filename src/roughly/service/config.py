"""How a service runs: where it listens, who may do what, and how much it takes. Nothing here changes an answer."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Config:
    """Given on the command line of `roughly serve`."""

    host: str = "127.0.0.1"
    port: int = 8080
    read_tokens: frozenset[str] = field(default=frozenset(), repr=False)
    write_tokens: frozenset[str] = field(default=frozenset(), repr=False)
    admin_tokens: frozenset[str] = field(default=frozenset(), repr=False)
