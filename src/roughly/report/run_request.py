"""What was asked of the run, read from run.json: the threshold, what it is a threshold on, the recall.

run.json is written by another part and may lack keys, for a method without bands has no S-curve and an
older run fewer counts. Whoever reads it here gets a number or nothing, never a number made up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from roughly.measures import FOR_THRESHOLD
from roughly.options import METHODS

Number = int | float


def number(values: Mapping[str, Any], key: str) -> Number | None:
    """The number under the key, or nothing where it is missing or no number."""
    value = values.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value


def section(values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """The object under the key, or an empty one."""
    value = values.get(key)
    return value if isinstance(value, Mapping) else {}


@dataclass(frozen=True, slots=True)
class Judged:
    """How pairs were judged."""

    on: str  # equality, text, sketch or keys
    common: bool  # by how much two documents have in common, not by a similarity
    how: str  # in words; empty where the run does not say

    @property
    def measured(self) -> bool:
        """Whether a similarity was compared with a threshold."""
        return self.on in ("text", "sketch") and not self.common


def judged(run: Mapping[str, Any]) -> Judged:
    """How the run judged; as a rule exactly, on the text."""
    values = section(run, "judged")
    method = METHODS.get(str(section(run, "settings").get("method")))  # where the run does not say how it judged
    equality = method is not None and method.equality
    on = values.get("on")
    how = values.get("how")
    return Judged(
        on if isinstance(on, str) else "equality" if equality else "text",
        values.get("measure") == "common",
        how if isinstance(how, str) else "",
    )


@dataclass(frozen=True, slots=True)
class RequestedQuality:
    """Threshold and recall of a run, each where it has one."""

    threshold: Number | None
    measure: str  # what the threshold is on: "resemblance" or "containment"
    recall: Number | None

    @property
    def resemblance(self) -> Number | None:
        """The threshold, where it is one on resemblance."""
        return self.threshold if self.measure == "resemblance" else None


def asked(run: Mapping[str, Any]) -> RequestedQuality:
    """What the settings asked for, or else what the S-curve was derived for."""
    settings, curve = section(run, "settings"), section(run, "s_curve")
    measure = named if (named := settings.get("measure")) in FOR_THRESHOLD else FOR_THRESHOLD[0]
    if not judged(run).measured:
        return RequestedQuality(None, measure, None)
    found = [
        next((value for values in (settings, curve) if (value := number(values, key)) is not None), None)
        for key in ("threshold", "recall")
    ]
    return RequestedQuality(found[0], measure, found[1])
