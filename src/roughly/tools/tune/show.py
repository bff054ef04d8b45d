"""The trials for people: lines for a screen, and a picture."""

from __future__ import annotations

import math
from pathlib import Path

from markupsafe import Markup

from roughly.amounts import counted
from roughly.report.scale import linear
from roughly.report.svg import Frame, element, text
from roughly.tools.tune.estimate import EstimatedVerdict
from roughly.tools.tune.frontier import Tried, frontier
from roughly.tools.tune.tune_result import TuneResult

_FRAME = Frame(720, 420, right=24)
_STYLE = """
  .paper { fill: #ffffff } text { font: 13px system-ui, sans-serif; fill: #333333 }
  .tick { font-size: 12px } .grid { stroke: #e3e3e8 } .axis { stroke: #777777 }
  .middle { text-anchor: middle } .end { text-anchor: end } .trial { fill: #b8bcc8 } .best { fill: #3f51b5 }
  .chosen { fill: none; stroke: #c2410c; stroke-width: 2 }
"""
_ROWS = 10
_HEAD = f"{'precision':>9} {'recall':>7} {'F1':>7} {'bytes/doc':>10} {'CPU s/MB':>9}"


def lines(chosen: TuneResult, everything: bool = False) -> list[str]:
    """The best of the frontier, or all trials, the highest F1 first; * is on the frontier, > is recommended."""
    on = frontier(chosen.tried)
    order = sorted(range(len(chosen.tried)), key=lambda n: (-chosen.tried[n].score.f1, chosen.tried[n].bytes, n))
    first = [n for n in order if on[n]][:_ROWS]
    shown = [n for n in order if everything or n in first or n == chosen.best]
    width = max([20, *(len(chosen.tried[n].trial.name) for n in shown)])
    found = [f"  {'settings':<{width}} {_HEAD}"]
    for n in shown:
        one = chosen.tried[n]
        mark = ">" if n == chosen.best else "*" if on[n] else " "
        found.append(f"{mark} {one.trial.name:<{width}} {_figures(one)}")
    return found


def unseen_lines(chosen: TuneResult) -> list[str]:
    """Scores on unseen labels: of choices made as this one, and of the default settings and the presets, which are not
    chosen at all."""
    rows = [(one.trial.name, one.score) for one in chosen.tried if one.trial.preset is not None or _is_default(one)]
    rows.sort(key=lambda row: -row[1].f1)
    if chosen.unseen is not None and chosen.best is not None:
        rows.insert(0, ("chosen on other labels", chosen.unseen))
    if chosen.learned is not None:
        rows.insert(0 if chosen.is_learned else 1, ("learnt on other labels", chosen.learned.unseen))
    width = max([20, *(len(name) for name, _ in rows)])
    found = [f"  {'on unseen labels':<{width}} {'precision':>9} {'recall':>7} {'F1':>7}"]
    for place, (name, score) in enumerate(rows):
        mark = ">" if place == 0 and chosen.best is not None else " "
        cells = f"{_share(score.precision):>9} {_share(score.recall):>7} {_share(score.f1):>7}"
        found.append(f"{mark} {name:<{width}} {cells}")
    return found


def _is_default(one: Tried) -> bool:
    return one.trial.values["method"] == "minhash" and one.trial.choices == 0 and one.trial.threshold == 0.8


def recommended_lines(chosen: TuneResult) -> list[str]:
    """The recommended trial and its scores, or that there is none."""
    if chosen.truth == "none":
        return _estimated_lines(chosen.estimated)
    best = chosen.recommended
    if best is None:
        near = chosen.nearest
        wanted = str(chosen.request.goal).partition(" with a ")[2]
        wanted = f"has a {wanted}" if wanted else "finds two documents that are the same"
        text = f"of {counted(len(chosen.tried), 'setting')} none {wanted}"
        if near is not None:
            text += f"; nearest: {near.trial.name}, precision {_share(near.precision)}, recall {_share(near.recall)}"
        return [f"recommended nothing: {text}"]
    score, intervals = best.score if chosen.unseen is None else chosen.unseen, chosen.intervals
    title = best.trial.name
    if chosen.learned is not None and chosen.is_learned:
        score, intervals = chosen.learned.unseen, chosen.learned.intervals
        title = f"minhash with a learned verdict among pairs of a resemblance of {best.trial.threshold:g} or more"
    where = "on the sample" if chosen.truth == "exact" else "on labels not chosen on"
    parts = []
    for name, value in (("precision", score.precision), ("recall", score.recall), ("f1", score.f1)):
        interval = intervals.get(name)
        about = f" ({interval.low:.3f}–{interval.high:.3f})" if interval is not None else ""
        parts.append(f"{'F1' if name == 'f1' else name} {_share(value)}{about}")
    return [f"recommended {title}: {chosen.request.goal}", f"{where:<11} {', '.join(parts)}"]


def settings_comment(chosen: TuneResult) -> str:
    """What a settings file says of its values."""
    goal = chosen.request.goal if chosen.estimated is None else "estimated without labels"
    return f"roughly tune: {goal}\n{recommended_lines(chosen)[1]}"


def _estimated_lines(found: EstimatedVerdict | None) -> list[str]:
    if found is None:
        return ["recommended nothing: no verdict follows from the documents alone"]
    least = f"among pairs of a resemblance of {found.trial.threshold:g} or more"
    return [f"recommended minhash with a verdict estimated without labels {least}", f"by itself   {found.summary}"]


def draw(chosen: TuneResult, folder: Path) -> list[Path]:
    """Write precision over recall, and F1 over cost, as self-contained pictures; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    measured = [one for one in chosen.tried if not math.isnan(one.cpu)]
    by_cost = max((one.cpu for one in measured), default=1.0)
    pictures = {
        "frontier.svg": _picture(
            chosen, "Precision and recall of the trials", "recall", "precision", 1.0,
            [(one.recall, one.precision) for one in chosen.tried],
        ),
        "cost.svg": _picture(
            chosen, "F1 by CPU seconds per megabyte", "CPU seconds per megabyte", "F1", by_cost,
            [(0.0 if math.isnan(one.cpu) else one.cpu, one.score.f1) for one in chosen.tried],
        ),
    }  # fmt: skip
    for name, picture in pictures.items():
        (folder / name).write_text(picture, encoding="utf-8")
    return [folder / name for name in pictures]


def _picture(
    chosen: TuneResult, title: str, x_label: str, y_label: str, x_most: float, points: list[tuple[float, float]]
) -> str:
    x, y = linear(0, max(x_most, 1e-6), _FRAME.left, _FRAME.x_end), linear(0, 1, _FRAME.y_end, _FRAME.top)
    parts = [
        element("style", Markup(_STYLE)), element("rect", class_="paper", width=_FRAME.width, height=_FRAME.height),
        _FRAME.axis_y(y, y_label), _FRAME.axis_x(x, x_label),
    ]  # fmt: skip
    on = frontier(chosen.tried)
    for n in sorted(range(len(points)), key=lambda n: (on[n], n)):
        a, b = points[n]
        name = element("title", chosen.tried[n].trial.name)
        parts.append(element("circle", name, cx=x(a), cy=y(b), r=5, class_="best" if on[n] else "trial"))
    if chosen.best is not None:
        a, b = points[chosen.best]
        parts.append(element("circle", cx=x(a), cy=y(b), r=9, class_="chosen"))
        end = x(a) > _FRAME.width / 2
        at = x(a) - 14 if end else x(a) + 14
        parts.append(text(at, y(b) + 22, chosen.tried[chosen.best].trial.name, "tick end" if end else "tick"))
    caption = f"{title}: {len(points)} settings, blue on the frontier, ringed the recommended one"
    drawing = _FRAME.document("tried", title, caption, *parts)
    return str(drawing).replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1) + "\n"


def _figures(one: Tried) -> str:
    score = one.score
    return (
        f"{_share(score.precision):>9} {_share(score.recall):>7} {_share(score.f1):>7} {one.bytes:>10,.0f} "
        f"{'–' if math.isnan(one.cpu) else f'{one.cpu:.3f}':>9}"
    )


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
