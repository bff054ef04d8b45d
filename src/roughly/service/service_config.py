"""The configuration of a service: its address, its tokens and its limits. Nothing here changes an answer."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from dataclasses import field

from roughly import checks
from roughly.fast_dataclass import dataclass

MEGABYTE = 1_000_000


@dataclass(frozen=True)
class ServiceConfig:
    """The options of `roughly serve`."""

    host: str = "127.0.0.1"
    port: int = 8080
    read_tokens: frozenset[str] = field(default=frozenset(), repr=False)
    write_tokens: frozenset[str] = field(default=frozenset(), repr=False)
    admin_tokens: frozenset[str] = field(default=frozenset(), repr=False)
    allowed_hosts: frozenset[str] = frozenset()  # host names that requests may use, besides the service's own
    proxies: frozenset[str] = frozenset()  # addresses whose X-Forwarded-For and X-Forwarded-Proto are believed
    max_connections: int = 1_000  # at the same time; a client may have a quarter of them
    max_body: int = 16 * MEGABYTE  # bytes per request
    max_stream: int = 4_000 * MEGABYTE  # bytes per request whose lines are answered one by one
    max_batch: int = 10_000  # documents or results per list
    max_text: int = 10 * MEGABYTE  # bytes per text
    timeout: float = 30.0  # seconds until an answer must begin, or a client must send or receive something
    rate: float = 200.0  # requests per second per token or address (0 = unlimited)

    def __post_init__(self) -> None:
        checks.refuse(self._problems())

    def _problems(self) -> Iterator[str]:
        yield from checks.whole("port", self.port, 0, 65_535)
        for name in ("max_connections", "max_body", "max_stream", "max_text", "max_batch"):
            yield from checks.whole(name, getattr(self, name), 1, 2**62)
        for proxy in self.proxies:
            if not _is_address(proxy):
                yield f"proxy must be an IP address such as 127.0.0.1, not {proxy!r}"
        if not 0 < self.timeout <= 86_400:
            yield f"timeout must be a number of seconds above 0, not {self.timeout!r}"
        if not 0 <= self.rate <= 1e9:
            yield f"rate must be a number of requests per second, or 0 for no limit, not {self.rate!r}"
        if not is_loopback(self.host) and not self.guarded:
            yield (
                f"{self.host} can be reached from other machines, so tokens are needed; give a --token-file, or "
                "leave out --host to serve this machine only"
            )

    @property
    def guarded(self) -> bool:
        """Whether requests need a token."""
        return bool(self.read_tokens or self.write_tokens or self.admin_tokens)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
