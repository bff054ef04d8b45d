"""How much is taken: bytes of a request, requests a second.

A token bucket: it holds up to `burst` requests and is refilled at `rate` a second; a request that finds it empty is
told when to come again. There is a bucket for each caller, a token or an address, and the buckets of those who have
not come for long are dropped.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable

from roughly.service.config import Config
from roughly.service.error_responses import ErrorResponse

_CALLERS = 10_000
WRONG_RATE, WRONG_BURST = 0.2, 10.0
"""Wrong tokens that an address may try: ten at once, then one every five seconds."""


class RateLimit:
    """Buckets of callers. Used from the event loop only, so it needs no lock."""

    def __init__(self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate, self.burst, self._clock = rate, burst, clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, caller: str) -> float:
        """Take one; 0 where there was one, and otherwise seconds until there is."""
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


def check_texts(config: Config, texts: Iterable[str | None]) -> None:
    """Refuse a text that is too long."""
    for text in texts:
        if text is not None and is_too_long(config, text):
            raise too_long(config)


def is_too_long(config: Config, text: str) -> bool:
    """Whether a text has more bytes than we take."""
    if len(text) * 4 <= config.max_text:
        return False
    return len(text) > config.max_text or len(text.encode("utf-8", "replace")) > config.max_text


def too_long(config: Config) -> ErrorResponse:
    """What is told of such a text."""
    return ErrorResponse(
        413, f"a text has more than {config.max_text:,} bytes", "send part of it, or serve with a larger --max-text"
    )


def check_count(config: Config, count: int, what: str) -> None:
    """Refuse a list that is too long."""
    if count > config.max_batch:
        raise ErrorResponse(
            413, f"more than {config.max_batch:,} {what} at once", "send fewer, or serve with a larger --max-batch"
        )


def body_too_large(limit: int) -> ErrorResponse:
    """What is told of a request that is too large."""
    return ErrorResponse(
        413, f"the request has more than {limit:,} bytes", "send less at once, or serve with a larger --max-body"
    )
