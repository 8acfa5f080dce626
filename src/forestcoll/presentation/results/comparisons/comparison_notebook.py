"""A comparison in a notebook: the answer, the table, the verdicts, and the chart of shares. The report says more."""

from forestcoll.algorithms.baseline import OWN
from forestcoll.comparison import Comparison
from forestcoll.presentation.pictures.charts.bars import Bar, bar_chart
from forestcoll.presentation.pictures.svg import Element, element
from forestcoll.presentation.results.comparisons.answers import answer, best_other, question, speed
from forestcoll.presentation.results.comparisons.comparison import schedule_table
from forestcoll.presentation.tables import Page
from forestcoll.presentation.text import percent

_MORE = "html_report(comparison) returns a page with the proof, the pictures and the charts."


def comparison_summary(found: Comparison) -> Page:
    """Return what a notebook shows of a comparison as text."""
    verdicts = [f"{row.name}: {row.reason}." for row in found.rows]
    sentences = [each for each in (answer(found), best_other(found)) if each is not None]
    return Page(question(found), (*sentences, schedule_table(found), *verdicts, _MORE))


def comparison_picture(found: Comparison) -> Element:
    """Return the picture that a notebook shows of a comparison, on a light background."""
    return element("div", share_bars(found), style="background:#ffffff;max-width:760px")


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
