"""Limits: bytes per request, bytes per text, documents per list, requests per second.

The rate limit is a token bucket per caller (a token or an address): it holds up to `burst` requests and is refilled at
`rate` per second. A request that finds it empty is refused with the time to wait. The buckets of the callers that were
seen least recently are dropped.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable

from roughly.service.error_responses import ErrorResponse
from roughly.service.service_config import ServiceConfig

_CALLERS = 10_000
WRONG_RATE, WRONG_BURST = 0.2, 10.0
"""Unknown tokens that an address may try: ten at once, then one every five seconds."""


class RateLimit:
    """A bucket per caller. Used from the event loop only, so it needs no lock."""

    def __init__(self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate, self.burst, self._clock = rate, burst, clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, caller: str) -> float:
        """Take one request from the caller's bucket; 0 if there was one, otherwise seconds until there is."""
        if self.rate <= 0:
            return 0.0
        now = self._clock()
        left, then = self._buckets.pop(caller, (self.burst, now))
        left = min(self.burst, left + (now - then) * self.rate)
        wait = 0.0 if left >= 1 else (1 - left) / self.rate
        self._buckets[caller] = (left - 1 if left >= 1 else left, now)
        while len(self._buckets) > _CALLERS:
            self._buckets.popitem(last=False)
        return wait


def check_texts(config: ServiceConfig, texts: Iterable[str | None]) -> None:
    """Refuse a text that is too long."""
    for text in texts:
        if text is not None and is_too_long(config, text):
            raise text_too_long(config)


def is_too_long(config: ServiceConfig, text: str) -> bool:
    """Whether a text has more bytes than the limit."""
    if len(text) * 4 <= config.max_text:
        return False
    return len(text) > config.max_text or len(text.encode("utf-8", "replace")) > config.max_text


def text_too_long(config: ServiceConfig) -> ErrorResponse:
    """The error for a text above the limit."""
    return ErrorResponse(
        413, f"a text has more than {config.max_text:,} bytes", "send part of it, or serve with a larger --max-text"
    )


def check_count(config: ServiceConfig, count: int, what: str) -> None:
    """Refuse a list that is too long."""
    if count > config.max_batch:
        raise ErrorResponse(
            413, f"more than {config.max_batch:,} {what} at once", "send fewer, or serve with a larger --max-batch"
        )


def body_too_large(limit: int) -> ErrorResponse:
    """The error for a request above the limit."""
    return ErrorResponse(
        413, f"the request has more than {limit:,} bytes", "send less at once, or serve with a larger --max-body"
    )
