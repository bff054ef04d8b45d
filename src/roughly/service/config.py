"""How a service runs: where it listens, who may do what, and how much it takes. Nothing here changes an answer."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass, field

from roughly import checks

MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Config:
    """Given on the command line of `roughly serve`."""

    host: str = "127.0.0.1"
    port: int = 8080
    read_tokens: frozenset[str] = field(default=frozenset(), repr=False)
    write_tokens: frozenset[str] = field(default=frozenset(), repr=False)
    admin_tokens: frozenset[str] = field(default=frozenset(), repr=False)
    allowed_hosts: frozenset[str] = frozenset()  # names that requests may be addressed to, besides our own
    max_body: int = 16 * MEGABYTE  # bytes of a request
    max_stream: int = 4_000 * MEGABYTE  # bytes of a request whose lines are answered one by one
    max_batch: int = 10_000  # documents of a list, results of a list
    max_text: int = 10 * MEGABYTE  # bytes of a text
    timeout: float = 30.0  # seconds until an answer must have begun, or a client must have sent or taken something
    rate: float = 200.0  # requests a second of one token or address; 0: any number

    def __post_init__(self) -> None:
        checks.refuse(self._problems())

    def _problems(self) -> Iterator[str]:
        yield from checks.whole("port", self.port, 0, 65_535)
        for name in ("max_body", "max_stream", "max_text", "max_batch"):
            yield from checks.whole(name, getattr(self, name), 1, 2**62)
        if not 0 < self.timeout <= 86_400:
            yield f"timeout must be a number of seconds above 0, not {self.timeout!r}"
        if not 0 <= self.rate <= 1e9:
            yield f"rate must be a number of requests a second, or 0 for any number, not {self.rate!r}"
        if not is_loopback(self.host) and not self.guarded:
            yield (
                f"{self.host} can be reached from elsewhere, so tokens are needed; give a --token-file, or leave out "
                "--host to be reached from this machine only"
            )

    @property
    def guarded(self) -> bool:
        """Whether a token is needed."""
        return bool(self.read_tokens or self.write_tokens or self.admin_tokens)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches the address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
