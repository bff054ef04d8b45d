"""What run.json says about the request: the threshold, what it is a threshold on, the recall, how pairs were judged.

run.json may lack keys: a method without bands has no S-curve, and an older run has fewer counts. The functions here
return a value or nothing, never an invented value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from roughly.fast_dataclass import dataclass
from roughly.measures import FOR_THRESHOLD
from roughly.options import METHODS

Number = int | float


def number(values: Mapping[str, Any], key: str) -> Number | None:
    """The number under the key, or None if it is missing or not a number."""
    value = values.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value


def section(values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """The object under the key, or an empty one."""
    value = values.get(key)
    return value if isinstance(value, Mapping) else {}


@dataclass(frozen=True, slots=True)
class JudgingMethod:
    """How pairs were judged."""

    on: str  # equality, text, sketch or keys
    common: bool  # by the number of common keys, not by a similarity
    how: str  # in words; empty if the run does not say
    finds: str  # which pairs, in words, if the method has no S-curve

    @property
    def measured(self) -> bool:
        """Whether a similarity was compared with a threshold."""
        return self.on in ("text", "sketch") and not self.common


def judging_of(run: Mapping[str, Any]) -> JudgingMethod:
    """How the run judged pairs; usually exactly, on the text."""
    values = section(run, "judged")
    method = METHODS.get(str(section(run, "settings").get("method")))  # for runs that do not say how they judged
    equality = method is not None and method.equality
    on = values.get("on")
    how, finds = values.get("how"), values.get("finds")
    return JudgingMethod(
        on if isinstance(on, str) else "equality" if equality else "text",
        values.get("measure") == "common",
        how if isinstance(how, str) else "",
        finds if isinstance(finds, str) else "",
    )


@dataclass(frozen=True, slots=True)
class RequestedQuality:
    """Threshold and recall of a run, if it has them."""

    threshold: Number | None
    measure: str  # what the threshold is on: "resemblance" or "containment"
    recall: Number | None

    @property
    def resemblance(self) -> Number | None:
        """The threshold, if it is one on resemblance."""
        return self.threshold if self.measure == "resemblance" else None


def requested_quality(run: Mapping[str, Any]) -> RequestedQuality:
    """The quality of the settings, or else that for which the S-curve was derived."""
    settings, curve = section(run, "settings"), section(run, "s_curve")
    measure = named if (named := settings.get("measure")) in FOR_THRESHOLD else FOR_THRESHOLD[0]
    if not judging_of(run).measured:
        return RequestedQuality(None, measure, None)
    found = [
        next((value for values in (settings, curve) if (value := number(values, key)) is not None), None)
        for key in ("threshold", "recall")
    ]
    return RequestedQuality(found[0], measure, found[1])
