"""Plots and Gantt charts show the data that they are made of."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from math import log
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import resvg_py

from forestcoll import generate, simulate, step_frontier
from forestcoll.base.errors import InputError
from forestcoll.base.progress import SILENT
from forestcoll.design.workloads import Layer, NetworkRates, Profile, iterate, network_of_file
from forestcoll.design.workloads.asked import Compared, TrainedOnce, TrainingQuestion
from forestcoll.design.workloads.samples import profile_of
from forestcoll.oneport.asked import Message
from forestcoll.oneport.message.pipelined import root_rule
from forestcoll.oneport.series.comparison import compare_series
from forestcoll.presentation.pictures.charts.gantt import Bar, gantt_chart
from forestcoll.presentation.pictures.charts.style import text_width
from forestcoll.presentation.pictures.raster import png_of
from forestcoll.presentation.results.networks.step_frontier import step_frontier_plot
from forestcoll.presentation.results.networks.training import draw_training
from forestcoll.presentation.results.programs.program_plot import draw_gantt
from forestcoll.presentation.results.schedules.one_port import draw_answer
from forestcoll.presentation.results.schedules.period_plot import chart, draw_period
from forestcoll.presentation.results.schedules.simulation import plot_of
from forestcoll.simulation import Costs
from forestcoll.simulation.simulate import ProgramModel
from oneport_platforms import figure_1


@pytest.fixture
def drawn(tmp_path: Path) -> Callable[..., ElementTree.Element]:
    """Return a function that draws twice, compares the bytes, and returns the elements of the picture."""

    def draw(function: Callable[..., Any], *arguments: object) -> ElementTree.Element:
        paths = [tmp_path / "one.svg", tmp_path / "two.svg"]
        for path in paths:
            function(*arguments, path)
        texts = [path.read_text() for path in paths]
        assert texts[0] == texts[1]
        return ElementTree.fromstring(texts[0].replace(' xmlns="http://www.w3.org/2000/svg"', ""))  # noqa: S314

    return draw


def texts(picture: ElementTree.Element) -> list[str]:
    return [each.text or "" for each in picture.iter("text")]


def assert_texts_are_whole(picture: ElementTree.Element) -> None:
    """Check that all texts are inside the picture; bold letters are not counted as wider."""
    widths = {"start": 0.0, "middle": 0.5, "end": 1.0}
    for each in picture.iter("text"):
        width = text_width(each.text or "", float(each.get("font-size", "0")))
        left = float(each.get("x", "0")) - width * widths[each.get("text-anchor", "start")]
        assert left >= 0, each.text
        assert left + width <= float(picture.get("width", "0")), each.text


def assert_affine(places: Sequence[float], values: Sequence[float]) -> None:
    """Check that places on an axis are those of values, but for the scale of the axis."""
    low, high = min(values), max(values)
    begin, end = (places[values.index(each)] for each in (low, high))
    expected = [begin + (end - begin) * (value - low) / (high - low) for value in values]
    assert list(places) == pytest.approx(expected, abs=0.06)


def bars_of(picture: ElementTree.Element) -> list[tuple[float, float, float]]:
    """Return the begin, the end and the top of each bar."""
    boxes = [each for each in picture.iter("rect") if each.get("class") == "bar"]
    places = [[float(each.get(name, "")) for name in ("x", "width", "y")] for each in boxes]
    return [(x, x + width + 0.5, y) for x, width, y in places]


def assert_bars(picture: ElementTree.Element, bars: Sequence[Bar]) -> None:
    begins, ends, tops = zip(*bars_of(picture), strict=True)
    wide = [place for place, bar in enumerate(bars) if ends[place] - begins[place] > 1.01]
    assert_affine(
        [*begins, *(ends[place] for place in wide)],
        [*(bar.begin for bar in bars), *(bars[place].end for place in wide)],
    )
    assert_affine(tops, [bar.row for bar in bars])


def lines_of(picture: ElementTree.Element) -> list[list[tuple[float, float]]]:
    """Return the places of each line, from front to back."""
    points = [[each.split(",") for each in (line.get("points") or "").split()] for line in picture.iter("polyline")]
    return [[(float(x), float(y)) for x, y in line] for line in reversed(points)]


def test_a_period_has_a_bar_for_each_use_of_a_port(drawn: Callable[..., ElementTree.Element]) -> None:
    schedule = compare_series(figure_1(), "s").schedule()
    names, bars = chart(schedule)
    picture = drawn(draw_period, schedule)
    assert_bars(picture, bars)
    title = "one period of a series of broadcasts, 1 messages per unit of time"
    assert {*names, "tree 0", schedule.topology.name, title} <= set(texts(picture))


def test_an_iteration_has_two_rows(drawn: Callable[..., ElementTree.Element]) -> None:
    network = network_of_file("ring:nodes=8", alpha_us=Fraction(10))
    model = profile_of("switch-base-256").on(network.nodes)
    best = iterate(model, network, 10**7)
    picture = drawn(draw_training, TrainedOnce(model, network, best, {}))
    assert_bars(
        picture, [Bar(0 if each.kind.is_computing else 1, each.begin_us, each.end_us, 0) for each in best.intervals]
    )
    assert {"forward", "backward", "allreduce", "all-to-all", "computation", "communication"} <= set(texts(picture))


def test_a_sweep_has_a_line_for_each_layout(drawn: Callable[..., ElementTree.Element]) -> None:
    layouts = ("fsdp=8", "dp=8")
    question = TrainingQuestion(
        "llama-2-7b", ("ring:nodes=8",), Fraction(10), None, layouts, (), no_overlap=True, sweep="batch=1,4,2"
    )
    answer = question.answer(SILENT)
    assert isinstance(answer, Compared)
    picture = drawn(draw_training, answer)
    assert_affine([x for line in lines_of(picture) for x, _ in line], 2 * [0.0, 1.0, 2.0])
    ordered = [answer.cases[place].batch_us for place in (0, 2, 1, 3, 5, 4)]
    assert_affine([y for line in lines_of(picture) for _, y in line], ordered)
    assert {*layouts, "1", "2", "4", "computing alone", "time of a batch (s)"} <= set(texts(picture))
    assert_texts_are_whole(picture)


def test_bars_of_iterations_are_as_long_as_their_times(drawn: Callable[..., ElementTree.Element]) -> None:
    networks = ("ring:nodes=8", "ring:nodes=8,bandwidth=2", "hypercube:dim=3")
    question = TrainingQuestion("gpt2-small", networks, Fraction(0), None, (), (), no_overlap=False, sweep=None)
    answer = question.answer(SILENT)
    assert isinstance(answer, Compared)
    assert max(each.iteration.total_us / each.iteration.computing_us for each in answer.cases) > 3
    bars = [each for each in drawn(draw_training, answer).iter("g") if each.get("class") == "bar"]
    lengths = [sum(float(box.get("width", "0")) for box in each.iter("rect")) for each in bars]
    times = [each.batch_us for each in answer.cases]
    assert lengths == pytest.approx([lengths[0] * time / times[0] for time in times], abs=0.1)


def test_times_have_the_unit_that_fits_them(drawn: Callable[..., ElementTree.Element]) -> None:
    for speed, unit, total in ((1, "s", "3 s"), (100, "ms", "30 ms"), (10**8, "us", "0.03 us")):
        network = NetworkRates("net", 4, 0.0, 1000.0 * speed, 1000.0 * speed)
        model = Profile("model", "", (Layer("a", Fraction(10**6, speed), Fraction(10**6, speed), 10**9),))
        picture = drawn(draw_training, TrainedOnce(model, network, iterate(model, network, 1), {}))
        assert f"time ({unit})" in texts(picture)
        assert f"model on net, buckets of 1 byte: {total}" in texts(picture)
        assert_texts_are_whole(picture)


def test_the_frontier_of_steps_names_the_network(drawn: Callable[..., ElementTree.Element]) -> None:
    found = step_frontier("circulant:nodes=5,offsets=1,bandwidth=10000000000000000000000000000000000000000000001/7")
    picture = drawn(lambda path: path.write_text(step_frontier_plot(found)))
    assert found.topology.name in " ".join(texts(picture))
    assert "1: 2 steps: 4/5" in texts(picture)
    assert_texts_are_whole(picture)


def test_a_run_has_a_bar_for_each_instruction(drawn: Callable[..., ElementTree.Element]) -> None:
    model = ProgramModel(generate("ring:nodes=4"), Costs())
    program, timeline = model.program(1), model.run(10**6, 1)
    picture = drawn(draw_gantt, program, timeline, "a title")
    assert len(bars_of(picture)) == len(timeline.actions)
    assert {"a title", "one row per block", "rank 0", "rank 3", "send", "receive"} <= set(texts(picture))


def test_simulated_bandwidths_and_times_are_drawn(drawn: Callable[..., ElementTree.Element]) -> None:
    schedule = generate("ring:nodes=4", "allreduce")
    points = simulate(schedule, [10**3, 10**6, 10**9])
    picture = drawn(plot_of, schedule, points[::-1], 4.0)
    times, algbw, busbw = lines_of(picture)
    for line in (times, algbw, busbw):
        assert_affine([x for x, _ in line], [log(point.size) for point in points])
    rates = [*(point.algbw for point in points), *(point.busbw for point in points)]
    assert_affine([y for _, y in (*algbw, *busbw)], rates)
    assert_affine([y for _, y in times], [log(point.seconds) for point in points])
    shown = {"bandwidth (GB/s)", "time (µs)", "algbw", "busbw", "1KB", "1MB", "1GB", "algbw of the schedule, 4"}
    assert shown <= set(texts(picture))


def test_plans_are_drawn_as_multiples_of_the_bound(drawn: Callable[..., ElementTree.Element]) -> None:
    answer = Message(10**4, "s").answer(figure_1(), SILENT)
    pipeline, picture = answer.pipeline, drawn(draw_answer, answer)
    best, by_rule = lines_of(picture)
    sizes = [10**4, 10**5, 10**10]
    plans = [*map(pipeline.plan, sizes), *(pipeline.plan(size, packets=root_rule(size)) for size in sizes)]
    places = [y for line in (best, by_rule) for _, y in (line[0], line[2], line[12])]
    assert_affine(places, [log(plan.makespan / plan.bound) for plan in plans])
    assert texts(picture)[:2] == [pipeline.plan(1).topology.name, "pipelined broadcast from s"]
    assert {"lower bound", "best plan", "√L rule", "10KB", "10GB"} <= set(texts(picture))


def test_a_legend_has_as_many_lines_as_it_needs() -> None:
    kinds = [f"a kind with a long name, {number}" for number in range(6)]
    made = gantt_chart("t", ("time", 0.0), [("a", 1)], [Bar(0, 0.0, 0.0, kind) for kind in range(6)], kinds)
    places = [(float(each.get("x", "")), float(each.get("y", ""))) for each in made.iter("text") if each.text in kinds]
    assert len(set(places)) == 6
    assert len({y for _, y in places}) > 1
    assert max(x for x, _ in places) < 700


def test_a_system_without_fonts_draws_no_png(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resvg_py.svg_to_bytes", partial(resvg_py.svg_to_bytes, skip_system_fonts=True))
    with pytest.raises(InputError, match="no font"):
        png_of("<svg/>")


def test_letters_that_no_font_has_are_named_and_all_others_are_drawn() -> None:
    text = '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="20"><text y="15">{}</text></svg>'
    assert png_of(text.format("µ → … ½ &amp; &#x3A9;")) != png_of(text.format(""))
    with pytest.raises(InputError, match="no font of this system has \u0379, \u0380; install one"):
        png_of(text.format("a<tspan>\u0380</tspan>\u0379"))
    png_of(text.replace("</text>", "</text><title>\u0379</title>").format(""))  # is not drawn
