"""Draws `docs/images/survival.svg`: how many changed terms a signature of I-Match outlasts, by the number of lexicons.

    python docs/make_survival.py

The curves are the formula (Kołcz 2008, eq. 1), nothing measured. A test fails while the picture is not what this draws.
"""

from __future__ import annotations

from pathlib import Path

from roughly.methods.stability import survival

PICTURE = Path(__file__).parent / "images" / "survival.svg"
MOST = 20
WIDTH, HEIGHT = 640, 320
LEFT, RIGHT, TOP, BOTTOM = 52, 616, 34, 270
CURVES = ((1, "#3f51b5"), (2, "#c2410c"), (3, "#6b7280"), (5, "#0f766e"))


def x(lexicons: int) -> float:
    """Where a number of lexicons stands."""
    return LEFT + lexicons / MOST * (RIGHT - LEFT)


def y(chance: float) -> float:
    """Where a chance stands."""
    return BOTTOM - chance * (BOTTOM - TOP)


def draw() -> str:
    """The whole picture."""
    parts = [f'<rect fill="#ffffff" width="{WIDTH}" height="{HEIGHT}"/>']
    for fifth in range(6):
        value = fifth / 5
        parts.append(f'<line stroke="#e3e3e8" x1="{LEFT}" y1="{y(value):.1f}" x2="{RIGHT}" y2="{y(value):.1f}"/>')
        parts.append(f'<text text-anchor="end" x="{LEFT - 8}" y="{y(value) + 4:.1f}">{value:g}</text>')
    for lexicons in range(0, MOST + 1, 5):
        parts.append(f'<text text-anchor="middle" x="{x(lexicons):.1f}" y="{BOTTOM + 20}">{lexicons}</text>')
    parts.append('<text x="4" y="16">chance that a signature stays, p = 1/3</text>')
    parts.append(f'<text text-anchor="middle" x="{(LEFT + RIGHT) / 2:g}" y="{HEIGHT - 8}">randomised lexicons</text>')
    for changes, colour in CURVES:
        points = " ".join(f"{x(k):.1f},{y(survival(changes, k)):.1f}" for k in range(MOST + 1))
        parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2.5" points="{points}"/>')
        at = y(survival(changes, MOST - 6)) - 8
        words = f"{changes} changed term{'s' if changes > 1 else ''}"
        parts.append(f'<text text-anchor="middle" fill="{colour}" x="{x(MOST - 6):.1f}" y="{at:.1f}">{words}</text>')
    body = "\n  ".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img">\n'
        f"  <title>Chance that a signature outlasts changes, by the number of lexicons</title>\n"
        f"  <style>text {{ font: 13px system-ui, sans-serif }}</style>\n  {body}\n</svg>\n"
    )


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
