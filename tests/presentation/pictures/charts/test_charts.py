"""Charts: their places, their texts, and the same bytes for the same values."""

import re
from itertools import pairwise

import pytest

from forestcoll.presentation.pictures.charts.bars import Bar, bar_chart
from forestcoll.presentation.pictures.charts.lines import Axes, Line, line_chart
from forestcoll.presentation.pictures.charts.points import PointSeries, point_chart
from forestcoll.presentation.pictures.charts.scales import round_ticks
from forestcoll.presentation.pictures.charts.sends import MOST_BARS, SendBar, send_chart
from forestcoll.presentation.pictures.charts.style import MOST_NAMES, elided, text_width
from forestcoll.presentation.pictures.svg import Element, text


def texts(chart: Element) -> list[tuple[str, float, float]]:
    """Return each text of a chart with its position."""
    return [(each.text or "", float(each.get("x", "0")), float(each.get("y", "0"))) for each in chart.iter("text")]


def lines_at(ends: list[float]) -> Element:
    lines = [Line(f"schedule {place}", ((1, 1.0), (16, end)), (1,), place) for place, end in enumerate(ends)]
    axes = Axes("size", "GB/s", [(1, "1B"), (16, "16B")], [(0, "0"), (100, "100")])
    return line_chart("algbw", axes, lines, (120, "bound"))


@pytest.mark.parametrize("ends", [[100.0] * 12, [0.0] * 12, [1.0, 1.1, 50, 99, 99.5, 100]])
def test_names_of_lines_never_overlap(ends: list[float]) -> None:
    places = sorted(y for name, _, y in texts(lines_at(ends)) if name.startswith("schedule"))
    assert len(places) == len(ends)
    assert min(after - before for before, after in pairwise(places)) >= 15
    assert places[0] > 0
    assert places[-1] < 380


def test_the_points_of_a_line_lie_on_a_logarithmic_axis() -> None:
    lines = [Line("one", ((1, 0.0), (4, 50.0), (16, 100.0)), (1, 4, 16), 0)]
    chart = line_chart("t", Axes("x", "y", [], [(0, "0"), (100, "100")]), lines, (100, "bound"))
    (polyline,) = {each.get("points") or "" for each in chart.iter("polyline")}
    (x0, y0), (x1, y1), (x2, y2) = (map(float, each.split(",")) for each in polyline.split())
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.02)
    assert y0 - y1 == pytest.approx(y1 - y2, abs=0.02)


def test_a_bar_is_as_long_as_its_value_and_striped_beyond_the_line() -> None:
    chart = bar_chart("t", "parts", [Bar("a", 1.0, "1"), Bar("b", 0.5, "1/2"), Bar("c", 0.25, "1/4")], (0.5, "must"))
    bars = [each for each in chart.iter("g") if each.get("class") == "bar"]
    widths = [[float(box.get("width", "0")) for box in bar.iter("rect")] for bar in bars]
    assert widths[0][0] == widths[0][1] == widths[1][0]
    assert widths[1][0] == pytest.approx(2 * widths[2][0], abs=0.02)
    assert [len(each) for each in widths] == [2, 1, 1]


def test_a_name_that_is_too_long_is_shortened_and_stays_in_the_title() -> None:
    name = f"a schedule with a {9 * 'very '}long name.json"
    bars = bar_chart("t", "parts", [Bar(name, 1.0, "1")], (1.0, "bound"))
    lines = line_chart("t", Axes("x", "y", [(1, "1")]), [Line(name, ((1, 1.0),), (1,), 0)])
    for chart in (bars, lines):
        short = next(each for each, *_ in texts(chart) if "…" in each)
        assert short[:10] == name[:10]
        assert short[-9:] == "name.json"
        assert text_width(short) <= MOST_NAMES
        assert any(name in (each.text or "") for each in chart.iter("title"))
    assert elided("short", 100) == "short"


def test_names_of_usual_length_are_whole_and_make_charts_wider() -> None:
    name = "tp=8,fsdp=2 nccl-ring dgx-a100:boxes=16"
    bars = bar_chart("t", "parts", [Bar(name, 1.0, "1")], (1.0, "bound"))
    lines = line_chart("t", Axes("x", "y", [(1, "1")]), [Line(name, ((1, 1.0),), (1,), 0)])
    at = {chart: next(x for each, x, _ in texts(chart) if each == name) for chart in (bars, lines)}
    assert at[bars] >= text_width(name)
    assert at[lines] + text_width(name) <= float(lines.get("width", "0"))


@pytest.mark.parametrize("least", [0.1, 2.0, 60.0])
def test_the_name_of_a_least_value_is_next_to_its_line_and_above_the_axis(least: float) -> None:
    axes = Axes("batch", "ms", [(1, "1"), (4, "4")], [(0, "0"), (100, "100")])
    chart = line_chart("t", axes, [Line("ring", ((1, 100.0), (4, least)), (1,), 0)], (least, "computing alone"))
    found = {name: y for name, _, y in texts(chart)}
    line = next(float(each.get("y1", "0")) for each in chart.iter("line") if each.get("stroke-width") == "2")
    assert abs(found["computing alone"] - line) <= 20
    assert found["computing alone"] < found["1"] - 16


def test_a_chart_of_sends_has_one_bar_a_send_and_names_that_do_not_overlap() -> None:
    bars = [
        SendBar(f"{place} → {place + 1}", place, place + 2, is_between_boxes=place % 2 == 0) for place in range(200)
    ]
    chart = send_chart("t", bars, 10)
    assert sum(each.get("class") == "send" for each in chart.iter("g")) == 200
    places = sorted(y for name, _, y in texts(chart) if "→" in name)
    assert min(after - before for before, after in pairwise(places)) >= 13
    boxes = [box for each in chart.iter("g") if each.get("class") == "send" for box in each.iter("rect")]
    assert max(float(box.get("x", "0")) + float(box.get("width", "0")) for box in boxes) <= 745.01


def test_a_chart_of_sends_has_a_limit() -> None:
    bars = [SendBar("a to b", 0, 1)] * (MOST_BARS + 5)
    assert sum(each.get("class") == "send" for each in send_chart("t", bars, 1).iter("g")) == MOST_BARS


def test_the_same_values_give_the_same_text_and_every_colour_has_a_fallback() -> None:
    made = text(lines_at([1, 2, 3])) + text(send_chart("t", [SendBar("a & b", 0, 1, is_between_boxes=True)], 1))
    assert made == text(lines_at([1, 2, 3])) + text(send_chart("t", [SendBar("a & b", 0, 1, is_between_boxes=True)], 1))
    assert "a &amp; b" in made
    colours = re.findall(r"var\(([^)]*)\)", made)
    assert colours
    assert all(re.fullmatch(r"--[a-z0-9-]+, #[0-9a-f]{6}", each) for each in colours)


@pytest.mark.parametrize("high", [1e-6, 0.3, 1, 7, 99.9, 346.67, 1e9])
def test_ticks_are_few_and_within_the_range(high: float) -> None:
    ticks = round_ticks(high)
    assert 2 <= len(ticks) <= 6
    assert ticks[0] == 0
    assert high / 3 <= ticks[-1] <= high * (1 + 1e-9)


def test_the_points_of_two_frontiers_are_numbered_and_named() -> None:
    found = PointSeries("found", ((8.0, 5), (0.0, 7)), ("a", "b"))
    known = PointSeries("known", ((33.0, 5), (2.0, 6), (0.0, 20)), ("c", "d", "e"))
    chart = point_chart("t", ("T_B", "T_L"), [found, known], (5, "bound"))
    named = [name for name, _, _ in texts(chart)]
    assert named[-7:] == ["found", "1: a", "2: b", "known", "1: c", "2: d", "3: e"]
    rows = [y for _, _, y in texts(chart)][-7:]
    assert min(after - before for before, after in pairwise(rows)) >= 15
    stairs = [each.get("points") or "" for each in chart.iter("polyline")]
    assert [len(each.split()) for each in stairs] == [5, 3]


def test_one_point_on_both_bounds_is_drawn() -> None:
    chart = point_chart("t", ("T_B", "T_L"), [PointSeries("found", ((0.0, 2),), ("a",))], (2, "bound"))
    assert sum(each.get("class") == "point" for each in chart.iter("g")) == 1
