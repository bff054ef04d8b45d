"""Draws `docs/images/s-curve.svg`: the chance to become a candidate, as Roughly and two other tools set their bands.

    python docs/make_pictures.py

The curves are the formula, nothing measured. A test fails while the picture is not what this draws.
"""

from __future__ import annotations

from pathlib import Path

from roughly.methods.bands import candidate_probability, choose

PICTURE = Path(__file__).parent / "images" / "s-curve.svg"
THRESHOLD, RECALL = 0.8, 0.99
WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 52, 616, 34, 310
STYLE = """
  .paper { fill: #ffffff }
  text { font: 13px system-ui, sans-serif; fill: #333333 }
  .grid { stroke: #e3e3e8 } .axis { stroke: #777777 } .mark { stroke: #777777; stroke-dasharray: 4 3 }
  .curve { fill: none; stroke-width: 2.5 }
  .ours { stroke: #3f51b5 } .second { stroke: #c2410c } .third { stroke: #6b7280 }
  .middle { text-anchor: middle } .end { text-anchor: end } .small { font-size: 12px }
"""


def x(similarity: float) -> float:
    """Where a similarity stands."""
    return LEFT + similarity * (RIGHT - LEFT)


def y(probability: float) -> float:
    """Where a probability stands."""
    return BOTTOM - probability * (BOTTOM - TOP)


def curve(bands: int, rows: int, style: str) -> str:
    """One S-curve."""
    steps = [i / 200 for i in range(201)]
    points = " ".join(f"{x(s):.1f},{y(candidate_probability(s, bands, rows)):.1f}" for s in steps)
    return f'<polyline class="curve {style}" points="{points}"/>'


def legend(place: int, words: str, style: str) -> str:
    """A line of the legend."""
    at = TOP + 26 + 22 * place
    return (
        f'<line class="curve {style}" x1="{LEFT + 16}" y1="{at - 4}" x2="{LEFT + 44}" y2="{at - 4}"/>'
        f'<text class="small" x="{LEFT + 52}" y="{at}">{words}</text>'
    )


def draw() -> str:
    """The whole picture."""
    bands, rows = choose(THRESHOLD, RECALL)
    settings = [
        (bands, rows, "ours", "Roughly"),
        (14, 8, "second", "datatrove’s default"),
        (9, 13, "third", "datasketch for 0.8"),
    ]
    parts = [f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>']
    for tenth in range(0, 11, 2):
        value = tenth / 10
        parts.append(f'<line class="grid" x1="{LEFT}" y1="{y(value):.1f}" x2="{RIGHT}" y2="{y(value):.1f}"/>')
        parts.append(f'<text class="end" x="{LEFT - 8}" y="{y(value) + 4:.1f}">{value:g}</text>')
        parts.append(f'<text class="middle" x="{x(value):.1f}" y="{BOTTOM + 20}">{value:g}</text>')
    parts.append(f'<line class="axis" x1="{LEFT}" y1="{BOTTOM}" x2="{RIGHT}" y2="{BOTTOM}"/>')
    parts.append('<text x="4" y="16">chance to become a candidate</text>')
    parts.append(f'<text class="middle" x="{(LEFT + RIGHT) / 2:g}" y="{HEIGHT - 8}">resemblance of the pair</text>')
    at = x(THRESHOLD)
    parts.append(f'<line class="mark" x1="{at:.1f}" y1="{TOP - 8}" x2="{at:.1f}" y2="{BOTTOM}"/>')
    parts.append(f'<text class="small" x="{at + 6:.1f}" y="{BOTTOM - 10}">threshold {THRESHOLD:g}</text>')
    for place, (b, r, style, name) in enumerate(settings):
        parts.append(curve(b, r, style))
        chance = candidate_probability(THRESHOLD, b, r)
        parts.append(legend(place, f"{name}: {b} × {r}, {chance:.2f} at the threshold", style))
    body = "\n  ".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img">\n'
        f"  <title>Chance that a pair becomes a candidate, by its resemblance</title>\n"
        f"  <style>{STYLE}  </style>\n  {body}\n</svg>\n"
    )


if __name__ == "__main__":
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(draw(), encoding="utf-8")
