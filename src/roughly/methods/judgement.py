"""How a method's pairs are judged, as text and as data: for run.json, the summary and the report."""

from __future__ import annotations

from typing import Any

from roughly.amounts import share
from roughly.methods.method import Method
from roughly.methods.verified import Verified


def judgement(method: Method) -> dict[str, Any]:
    """`on` what pairs are judged (equality, text, sketch or keys), by which `measure` and `threshold`, and `how`; and
    what the method `finds`, where it has no S-curve."""
    found = {"finds": method.finds} if method.finds else {}
    if method.equality:
        return {"on": "equality", "measure": None, "threshold": None, "how": f"equal or not ({method.name})", **found}
    judge = method.judge()
    verdict: dict[str, Any] = {"on": judge.on, "measure": judge.measure, "threshold": judge.threshold, **found}
    if judge.on == "keys":
        verdict["threshold"] = None
    windows = []
    if judge.dates is not None:
        windows.append(f"at most {judge.dates} days apart")
    if judge.lengths is not None:
        windows.append(f"lengths within {share(judge.lengths, digits=0)}")
    return verdict | {"how": "; ".join([_how(method), *windows])}


def _how(method: Method) -> str:
    judge = method.judge()
    if judge.on == "text":
        keys = f" among candidates of {method.name}" if isinstance(method, Verified) else ""
        return f"exactly on the text{keys}: {judge.measure} of at least {judge.threshold:g}"
    if judge.on == "keys":
        return "by keys in common, not measured"
    described = method.describe()
    if judge.measure == "common":
        terms = f"of {described['terms']} rare terms" if "terms" in described else "values"
        return f"by {judge.threshold:g} {terms} in common"
    sampling = described.get("sketch", "all")
    if sampling == "all":
        return f"exactly on the sets of {method.units}: {judge.measure} of at least {judge.threshold:g}"
    return f"estimated from sketches ({sampling}): {judge.measure} of at least {judge.threshold:g}"
