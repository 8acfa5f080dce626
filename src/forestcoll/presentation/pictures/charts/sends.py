"""A chart of sends over time: one row for each send, with a bar from its begin to its end."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from forestcoll.presentation.pictures.charts.parts import chart, horizontal_axis, label, striped
from forestcoll.presentation.pictures.charts.scales import Linear, round_ticks
from forestcoll.presentation.pictures.charts.style import BOUND, MUTED, TEXT, elided, line_style
from forestcoll.presentation.pictures.svg import Element, element, number

_WIDTH = 760.0
_NAMES = 210.0
_RIGHT = 745.0
_TOP = 34.0
_HIGHEST, _LOWEST = 20.0, 5.0
"""The height of a row if there are few sends, and if there are many."""
_NAMED = 40
"""The most rows that all have a name."""

MOST_BARS = 256
"""The most sends that a chart shows; the first ones, if there are more."""


@dataclass(frozen=True)
class SendBar:
    """The bar of a send.

    Attributes:
        name: the names of its two ends.
        begin: its begin in microseconds.
        end: its end in microseconds.
        is_between_boxes: whether it leaves a box; its bar has stripes if so.
    """

    name: str
    begin: float
    end: float
    is_between_boxes: bool = False


def send_chart(title: str, bars: Sequence[SendBar], until: float) -> Element:
    """Return a chart of sends.

    Args:
        title: what the chart shows, for readers who cannot see it.
        bars: the sends, from top to bottom; only the first `MOST_BARS` are shown.
        until: the end of the axis of time, in microseconds; later if a send ends later.

    Returns:
        The chart. For the script of a page, each bar has the class `send` and its begin and end, and the line of the
        present time has the class `now` and the positions of the begin and the end of the axis.

    Example:
        >>> from forestcoll.presentation.pictures.svg import text
        >>> text(send_chart("a tree", [SendBar("a to b", 0, 10), SendBar("b to c", 10, 20)], 20)).count('class="send"')
        2
    """
    shown = bars[:MOST_BARS]
    until = max(until, *(bar.end for bar in bars))
    height = _HIGHEST if len(shown) <= _NAMED else max(_LOWEST, _HIGHEST * _NAMED / len(shown))
    scale = Linear(0, until, _NAMES, _RIGHT)
    bottom = _TOP + height * len(shown)
    ticks = [(value, f"{value:g}") for value in round_ticks(until)]
    content = [
        *_legend(any(bar.is_between_boxes for bar in shown)),
        *horizontal_axis(ticks, scale, _TOP - 4, bottom),
        *(_row(bar, _TOP + height * place, height, scale) for place, bar in enumerate(shown)),
        *_names(shown, height),
        _now(bottom, until),
        label("time (µs)", (_NAMES + _RIGHT) / 2, bottom + 2 * TEXT + 12, text_anchor="middle", fill=MUTED),
    ]
    return chart(_WIDTH, bottom + 44, title, content)


def _legend(has_two_kinds: bool) -> Iterator[Element]:  # noqa: FBT001 (one argument)
    if not has_two_kinds:
        return
    yield element("rect", x=_NAMES, y=6, width=28, height=12, fill=line_style(0).colour)
    yield label("inside a box", _NAMES + 34, 17, fill=MUTED)
    yield from striped(_NAMES + 150, _NAMES + 178, 6, 12)
    yield label("between boxes", _NAMES + 184, 17, fill=MUTED)


def _row(bar: SendBar, top: float, height: float, scale: Linear) -> Element:
    begin, end = scale(bar.begin), max(scale(bar.end), scale(bar.begin) + 1)
    inner, thick = top + height * 0.15, height * 0.7
    shape = (
        striped(begin, end, inner, thick)
        if bar.is_between_boxes
        else [element("rect", x=begin, y=inner, width=end - begin, height=thick, fill=line_style(0).colour)]
    )
    name = f"{bar.name}: {bar.begin:.4g} to {bar.end:.4g} µs"
    times = {"data_begin": number(bar.begin), "data_end": number(bar.end)}
    return element("g", element("title", name), *shape, class_="send", data_name=bar.name, **times)


def _names(bars: Sequence[SendBar], height: float) -> Iterator[Element]:
    """Yield the names of the rows. If there are many, only rows with enough room are named."""
    last = -_HIGHEST
    for place, bar in enumerate(bars):
        top = height * place
        if top - last >= _HIGHEST - 1e-6:
            last = top
            yield label(
                elided(bar.name, _NAMES - 14), _NAMES - 8, _TOP + top + (height + TEXT) / 2 - 2, text_anchor="end"
            )


def _now(bottom: float, until: float) -> Element:
    path = f"M0 {number(_TOP - 8)}V{number(bottom)}"
    places = {"data_left": _NAMES, "data_right": _RIGHT, "data_until": until}
    return element("path", d=path, class_="now", stroke=BOUND, visibility="hidden", **places)
