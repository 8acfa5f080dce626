"""A comparison in a notebook: below its page the answer, and the chart of shares. The report says more."""

from forestcoll.algorithms.baseline import OWN
from forestcoll.comparison import Comparison
from forestcoll.presentation.pictures.charts.bars import Bar, bar_chart
from forestcoll.presentation.pictures.svg import Element, element
from forestcoll.presentation.results.comparisons.answers import answer, best_other, speed
from forestcoll.presentation.text import percent

_MORE = "html_report(comparison) returns a page with the proof, the pictures and the charts."


def comparison_picture(found: Comparison) -> Element:
    """Return what a notebook shows of a comparison below its page: the answer, and a chart on a light background."""
    sentences = [element("p", each) for each in (answer(found), best_other(found), _MORE) if each is not None]
    chart = element("div", share_bars(found), style="background:#ffffff;max-width:760px")
    return element("div", *sentences, chart)


def keys_of(found: Comparison) -> dict[str, str]:
    """Return a short key for each row, by its name."""
    return {row.name: f"r{place}" for place, row in enumerate(found.rows)}


def share_bars(found: Comparison) -> Element:
    """Return the chart of the part of the bound that each schedule reaches."""
    keys = keys_of(found)
    bars = [
        Bar(row.name, 100 * float(row.share), percent(row.share), row.name == OWN, keys[row.name])
        for row in found.rows
        if row.valid
    ]
    listed = ", ".join(f"{bar.name} {bar.text}" for bar in bars)
    limit = f"bound: {speed(found, found.bound.algbw)}"
    return bar_chart(
        f"Bars: the part of the bound that each schedule reaches: {listed}", "% of the bound", bars, (100, limit)
    )
