"""What was tried, for people: lines for a screen, and a picture."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from roughly.report.scale import linear
from roughly.report.svg import Frame, element, text
from roughly.tools.tune.choose import TuneResult
from roughly.tools.tune.frontier import Tried, frontier

_FRAME = Frame(720, 420, right=24)
_STYLE = """
  .paper { fill: #ffffff } text { font: 13px system-ui, sans-serif; fill: #333333 }
  .tick { font-size: 12px } .grid { stroke: #e3e3e8 } .axis { stroke: #777777 }
  .middle { text-anchor: middle } .end { text-anchor: end } .trial { fill: #b8bcc8 } .best { fill: #3f51b5 }
  .chosen { fill: none; stroke: #c2410c; stroke-width: 2 }
"""
_HEAD = f"{'precision':>9} {'recall':>7} {'F1':>7} {'bytes/doc':>10} {'CPU s/MB':>9}"


def lines(chosen: TuneResult, everything: bool = False) -> list[str]:
    """The frontier, or all that was tried, the highest F1 first; * is on the frontier, > is recommended."""
    on = frontier(chosen.tried)
    shown = [n for n in range(len(chosen.tried)) if everything or on[n] or n == chosen.best]
    shown.sort(key=lambda n: (-chosen.tried[n].score.f1, chosen.tried[n].bytes, n))
    width = max([20, *(len(chosen.tried[n].trial.name) for n in shown)])
    found = [f"  {'settings':<{width}} {_HEAD}"]
    for n in shown:
        one = chosen.tried[n]
        mark = ">" if n == chosen.best else "*" if on[n] else " "
        found.append(f"{mark} {one.trial.name:<{width}} {_figures(one)}")
    return found


def unseen_lines(chosen: TuneResult) -> list[str]:
    """How the recommended settings and every preset did on labels that nothing was chosen on."""
    rows = [one for one in chosen.tried if one is chosen.recommended or one.trial.preset is not None]
    rows.sort(key=lambda one: -one.unseen.f1)
    width = max([20, *(len(one.trial.name) for one in rows)])
    found = [f"  {'on unseen labels':<{width}} {'precision':>9} {'recall':>7} {'F1':>7}"]
    for one in rows:
        mark = ">" if one is chosen.recommended else " "
        score = one.unseen
        cells = f"{_share(score.precision):>9} {_share(score.recall):>7} {_share(score.f1):>7}"
        found.append(f"{mark} {one.trial.name:<{width}} {cells}")
    return found


def recommended_lines(chosen: TuneResult) -> list[str]:
    """What is recommended and how well it did, or that nothing is."""
    best = chosen.recommended
    if best is None:
        near = chosen.nearest
        summary = f"none of {len(chosen.tried)} settings has a {str(chosen.asked.goal).partition(' with a ')[2]}"
        if near is not None:
            summary += f"; nearest: {near.trial.name}, precision {_share(near.precision)}, recall {_share(near.recall)}"
        return [f"recommended nothing: {summary}"]
    score = best.score if chosen.truth == "exact" else best.unseen
    where = "on the sample" if chosen.truth == "exact" else "on labels not chosen on"
    parts = []
    for name, value in (("precision", score.precision), ("recall", score.recall), ("f1", score.f1)):
        interval = chosen.intervals.get(name)
        about = f" ({interval.low:.3f}–{interval.high:.3f})" if interval is not None else ""
        parts.append(f"{'F1' if name == 'f1' else name} {_share(value)}{about}")
    return [f"recommended {best.trial.name}: {chosen.asked.goal}", f"{where:<11} {', '.join(parts)}"]


def draw(chosen: TuneResult, folder: Path) -> list[Path]:
    """Write precision over recall, and F1 over cost, as pictures that stand by themselves; the files."""
    folder.mkdir(parents=True, exist_ok=True)
    by_cost = max((one.cpu for one in chosen.tried), default=1.0)
    pictures = {
        "frontier.svg": _picture(
            chosen, "Precision and recall of what was tried", "recall", "precision", 1.0,
            [(one.recall, one.precision) for one in chosen.tried],
        ),
        "cost.svg": _picture(
            chosen, "F1 by CPU seconds a megabyte", "CPU seconds a megabyte", "F1", by_cost,
            [(one.cpu, one.score.f1) for one in chosen.tried],
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
    summary = f"{title}: {len(points)} settings, blue where no other beats them, ringed the one recommended"
    drawing = _FRAME.document("tried", title, summary, *parts)
    return str(drawing).replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1) + "\n"


def _figures(one: Tried) -> str:
    score = one.score
    return (
        f"{_share(score.precision):>9} {_share(score.recall):>7} {_share(score.f1):>7} {one.bytes:>10,.0f} "
        f"{one.cpu:>9.3f}"
    )


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
