"""The least bandwidth time of a collective for each number of steps, as a page and as a plot."""

from forestcoll.algorithms.frontier import StepFrontier, StepPoint
from forestcoll.base.errors import plural
from forestcoll.presentation.names import counted
from forestcoll.presentation.pictures.charts.parts import headed
from forestcoll.presentation.pictures.charts.points import PointSeries, point_chart
from forestcoll.presentation.pictures.svg import text
from forestcoll.presentation.tables import Column, Page, Table, row


def step_frontier_page(found: StepFrontier) -> Page:
    """Return the page of a frontier.

    Example:
        >>> from forestcoll import step_frontier
        >>> page = step_frontier_page(step_frontier("ring:nodes=4"))
        >>> page.document()["points"][0]["bandwidth_factor"]
        '3/4'
    """
    columns = (
        Column("steps", right=True, key="steps"),
        Column("T_B (M/B)", key="bandwidth_factor"),
        Column("", lambda value: f"{float(value):.4g}", key="bandwidth_factor_float"),
        Column("no schedule below", key="least_bandwidth_factor"),
        Column(None, key="exact"),
        Column("chunks", right=True, key="chunks"),
        Column("rounds", right=True, key="rounds"),
        Column("--method", key="method"),
    )
    rows = tuple(
        (
            each.steps,
            each.bandwidth_factor,
            float(each.bandwidth_factor),
            each.least_factor,
            each.is_exact,
            each.chunks,
            each.rounds,
            each.method,
        )
        for each in found.points
    )
    least = f"{found.least_factor} ({float(found.least_factor):.4g}) M/B"
    end = "more steps do not help" if found.stopped is None else found.stopped
    blocks = (
        row(topology=found.topology.name, collective=found.collective, compute_nodes=len(found.topology.compute)),
        Table(columns, rows, key="points"),
        row("any steps", f"T_B is {least} or more", least_bandwidth_factor=found.least_factor),
        row("end", end, stopped=found.stopped),
    )
    name = f"{found.topology.name}: {found.collective.value} in steps over {counted(found.topology, None)}"
    return Page(f"{name}, the least T_B", blocks)


def step_frontier_plot(found: StepFrontier) -> str:
    """Return the plot of a frontier as SVG: steps over the bandwidth time.

    Example:
        >>> from forestcoll import step_frontier
        >>> step_frontier_plot(step_frontier("ring:nodes=4"))[:4]
        '<svg'
    """
    least = found.least_factor
    points = tuple((float(100 * (each.bandwidth_factor / least - 1)), each.steps) for each in found.points)
    series = PointSeries("the least T_B in so many steps", points, tuple(map(_described, found.points)))
    where = f"{found.collective.value} on {found.topology.name}"
    title = f"Points: steps over the least bandwidth time: {', '.join(series.names)}"
    axes = (f"T_B above {least}, the least of any steps (square-root scale)", "T_L (steps)")
    chart = point_chart(title, axes, [series], (found.points[0].steps, "thick lines: no schedule is better"))
    return text(headed([f"{where}: the least bandwidth time T_B for each number of steps"], chart))


def _described(point: StepPoint) -> str:
    bound = "" if point.is_exact else f", at least {point.least_factor}"
    return f"{plural(point.steps, 'step')}: {point.bandwidth_factor}{bound}"
