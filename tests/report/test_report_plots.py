"""The plots: sound drawings whose shapes lie where the numbers say."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roughly.report import render
from roughly.report.plots import doubling, plot_cluster_sizes, plot_resemblances, plot_s_curve, point
from roughly.report.run_request import RequestedQuality
from roughly.report.scale import counts, linear, round_step


def parse(drawing: str) -> ElementTree.Element:
    return ElementTree.fromstring(drawing)


def test_bars_of_cluster_sizes_keep_every_cluster() -> None:
    sizes = [(2, 900), (3, 80), (4, 40), (17, 3), (28_800_000, 1)]
    plot = plot_cluster_sizes(sizes)
    for drawing in (plot.wide, plot.narrow):
        root = parse(drawing)
        bars = [shape.find("title").text for shape in root.iter("rect")]  # type: ignore[union-attr]
        assert bars[0] == "2–3: 980\u00a0clusters" and bars[-1] == "16,777,216–33,554,431: 1\u00a0cluster"
        heights = [float(shape.attrib["height"]) for shape in root.iter("rect")]
        assert heights == sorted(heights, reverse=True) and heights[-1] > 3  # one giant is still seen
        assert [e.tag for e in root][:2] == ["title", "desc"]


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 10**7), st.integers(1, 10**6)), min_size=1, max_size=30))
def test_doubling_loses_nothing(sizes: list[tuple[int, int]]) -> None:
    bars = doubling(sizes)
    assert sum(bar.number for bar in bars) == sum(n for _, n in sizes)
    assert [bar.end for bar in bars[:-1]] == [bar.start for bar in bars[1:]]
    for size, _ in sizes:
        assert any(bar.start <= size < bar.end and bar.number for bar in bars)
    parse(plot_cluster_sizes(sizes).narrow)


def test_the_threshold_lies_between_its_neighbours() -> None:
    edges = [n / 50 for n in range(51)]
    plot = plot_resemblances(edges, [0] * 40 + [5] * 10, 0.8)
    root = parse(plot.wide)
    mark = next(e for e in root.iter("line") if "threshold" in e.attrib["class"])
    first = next(root.iter("rect"))
    assert float(mark.attrib["x1"]) == pytest.approx(float(first.attrib["x"]), abs=1)
    assert not plot.log and plot_resemblances(edges, [0] * 40 + [5] * 9 + [600], 0.8).log
    assert "threshold" not in plot_resemblances(edges, [1] * 50, None).wide


def test_the_curve_passes_through_its_points() -> None:
    points = [(n / 10, (n / 10) ** 2) for n in range(11)]
    plot = plot_s_curve(points, RequestedQuality(0.8, "resemblance", 0.6), 0.64)
    root = parse(plot.wide)
    line = next(root.iter("polyline")).attrib["points"].split()
    assert len(line) == 11
    dot = next(root.iter("circle"))
    assert float(line[8].split(",")[0]) == pytest.approx(float(dot.attrib["cx"]), abs=0.1)
    assert float(line[8].split(",")[1]) == pytest.approx(float(dot.attrib["cy"]), abs=0.1)
    assert plot.rows[4] == ("0.5", "0.2500")


def test_points_between_points() -> None:
    points = [(0.2, 0.1), (0.4, 0.3), (0.8, 0.9)]
    assert point(points, 0.3)[1] == pytest.approx(0.2)
    assert point(points, 0.4)[1] == 0.3
    assert point(points, 0.0)[1] == 0.1 and point(points, 1.0)[1] == 0.9


@settings(deadline=None)
@given(st.integers(1, 10**12), st.booleans())
def test_counts_fit_their_scale(highest: int, log: bool) -> None:
    scale = counts(highest, 200.0, 20.0, log)
    assert scale.high >= highest
    places = [scale(tick.value) for tick in scale.ticks]
    assert 2 <= len(places) <= 8 and places == sorted(places, reverse=True)
    assert all(20 <= place <= 200 for place in places)
    assert len({tick.label for tick in scale.ticks}) == len(places)


@settings(deadline=None)
@given(st.floats(0, 0.98), st.floats(0.01, 1))
def test_linear_ticks_are_round_and_inside(low: float, span: float) -> None:
    scale = linear(low, low + span, 0, 100, at_most=6)
    assert len(scale.ticks) <= 7
    assert all(low - 1e-9 <= tick.value <= low + span + 1e-9 for tick in scale.ticks)


def test_round_steps() -> None:
    assert [round_step(step) for step in (1, 1.1, 3, 6, 0.04, 70)] == [1, 2, 5, 10, 0.05, 100]


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("palette", [0, 1], ids=["light", "dark"])
def test_text_stands_out_from_its_ground(palette: int, data: object) -> None:
    """WCAG 2.1, AA: 4.5 to 1 for text, in both palettes."""
    html = render(data)  # type: ignore[arg-type]
    blocks = [block for block in re.findall(r":root \{(.*?)\}", html, re.DOTALL) if "--ink" in block]
    assert len(blocks) == 2
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", blocks[palette]))
    on_page = [(text, ground) for text in ("ink", "soft", "kept", "removed") for ground in ("paper", "card")]
    on_own = [("del", "del-area"), ("ins", "ins-area"), ("ink", "warn-area"), ("ink", "kept-area"), ("warn", "card")]
    for text, ground in on_page + on_own:
        light, dark = sorted((luminance(colours[text]), luminance(colours[ground])), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, f"{text} on {ground}"
