"""The SVG that plots need: elements whose attributes and text are always escaped, and axes.

There is no plotting library: the page must be self-contained and small, and the plots must have the
colours of the page, light, dark or on paper. So shapes have class names, and the style sheet of the page
gives them colours.

Coordinates are rounded to a tenth of a unit, which is finer than a screen shows and makes the page
small and equal on every machine.
"""

from __future__ import annotations

from markupsafe import Markup, escape

from roughly.fast_dataclass import dataclass
from roughly.report.scale import Scale
from roughly.report.visible import reveal

Attribute = str | float | int


def element(name: str, *children: Markup | str, **attributes: Attribute) -> Markup:
    """One element. ``class_`` stands for ``class``, and an underscore within a name for a hyphen."""
    written = "".join(f' {_name(key)}="{escape(_value(value))}"' for key, value in attributes.items())
    inside = "".join(child if isinstance(child, Markup) else escape(reveal(child)) for child in children)
    return Markup(f"<{name}{written}>{inside}</{name}>")


def _name(key: str) -> str:
    key = key.rstrip("_")
    return key if key in ("viewBox", "preserveAspectRatio") else key.replace("_", "-")


def _value(value: Attribute) -> str:
    if isinstance(value, str):
        return reveal(value)
    return f"{round(value, 1) + 0.0:g}"  # adding 0.0 turns -0.0 into 0.0


@dataclass(frozen=True, slots=True)
class Frame:
    """A drawing and the plot area within it."""

    width: int
    height: int
    left: int = 46
    right: int = 24
    top: int = 26
    bottom: int = 46

    @property
    def x_end(self) -> int:
        """The right edge of the plot area."""
        return self.width - self.right

    @property
    def y_end(self) -> int:
        """The lower edge of the plot area, where the horizontal axis is."""
        return self.height - self.bottom

    def document(self, name: str, title: str, description: str, *children: Markup, role: str = "img") -> Markup:
        """The whole drawing, with a title and a description for screen readers; its role is `group` if it has links."""
        return element(
            "svg",
            element("title", title, id=f"{name}-title"),
            element("desc", description, id=f"{name}-desc"),
            *children,
            class_="plot",
            viewBox=f"0 0 {self.width} {self.height}",
            width=self.width,
            height=self.height,
            role=role,
            aria_labelledby=f"{name}-title {name}-desc",
        )

    def axis_x(self, scale: Scale, label: str) -> Markup:
        """The horizontal axis with its ticks and its label."""
        parts = [line(self.left, self.y_end, self.x_end, self.y_end, "axis")]
        for tick in scale.ticks:
            x = scale(tick.value)
            parts.append(line(x, self.y_end, x, self.y_end + 4, "axis"))
            parts.append(text(x, self.y_end + 18, tick.label, "tick middle"))
        parts.append(text((self.left + self.x_end) / 2, self.height - 6, label, "label middle"))
        return Markup("").join(parts)

    def axis_y(self, scale: Scale, label: str) -> Markup:
        """The vertical axis as faint lines across the plot area, its label above them."""
        parts = []
        for tick in scale.ticks:
            y = scale(tick.value)
            parts.append(line(self.left, y, self.x_end, y, "grid"))
            parts.append(text(self.left - 7, y + 4, tick.label, "tick end"))
        parts.append(text(2, 12, label, "label"))
        return Markup("").join(parts)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    """A straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def text(x: float, y: float, words: str, class_: str) -> Markup:
    """Words on one line; ``start`` (default), ``middle`` or ``end`` in the class says where x is."""
    return element("text", words, x=x, y=y, class_=class_)
