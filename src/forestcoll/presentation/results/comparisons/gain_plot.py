"""The chart of upgrades with prices: the gain in algbw for each 1 of the first money."""

from forestcoll.presentation.pictures.charts.bars import Bar, bar_chart
from forestcoll.presentation.pictures.svg import text
from forestcoll.what_if.study import Study
from forestcoll.what_if.upgrades import UpgradeStudy

_MOST_BARS = 20
"""The most upgrades that are drawn, the best first."""


def gain_plot(study: UpgradeStudy | Study) -> str:
    """Return the chart as SVG; upgrades without a price are left out.

    Example:
        >>> from forestcoll import upgrades
        >>> gain_plot(upgrades("dgx-a100:boxes=2", prices=["nic=20", "GPU--box switch=10"]))[:4]
        '<svg'
    """
    rows = study.rows if isinstance(study, UpgradeStudy) else ()
    gains = [(row, row.gain_per_cost) for row in rows]
    unit = study.topology.bandwidth_unit
    bars = [
        Bar(row.name, float(gain), f"{float(gain):.4g} {unit}", is_own=place == 0)
        for place, (row, gain) in enumerate(each for each in gains if each[1] is not None)
        if gain is not None
    ]
    best = max((bar.value for bar in bars), default=0.0)
    title = f"Bars: the gain of upgrades of {study.topology.name} in algbw for each 1 of the first money"
    mark = (best, f"most: {best:.4g} {unit}") if best else (1.0, "no upgrade gains anything")
    return text(bar_chart(title, f"gain in algbw for each 1 of money ({unit})", bars[:_MOST_BARS], mark))
