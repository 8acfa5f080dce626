"""The plot of a frontier of networks: steps over the bandwidth factor, next to the networks of the paper."""

from forestcoll.base.errors import plural
from forestcoll.design.constructions import Construction
from forestcoll.design.measure import least_factor, moore_steps
from forestcoll.design.search.finder import Frontier
from forestcoll.presentation.pictures.charts.points import PointSeries, point_chart
from forestcoll.presentation.pictures.svg import text


def frontier_plot(frontier: Frontier, published: Frontier | None) -> str:
    """Return the plot of a frontier as SVG.

    Args:
        frontier: the networks that were found.
        published: the networks of the same size and degree that the base networks of the paper give; None if these are
            the networks that were found, or if there are none.

    Example:
        >>> from forestcoll import find_topologies
        >>> frontier_plot(find_topologies(12, 2), find_topologies(12, 2, published_only=True))[:4]
        '<svg'
    """
    series = [_series("networks found" if published else "networks of the paper's bases", frontier)]
    if published is not None:
        series.append(_series("networks of the paper's bases", published))
    size = f"{frontier.nodes} nodes, degree {frontier.degree}"
    listed = "; ".join(f"{each.name}: {', '.join(each.names)}" for each in series)
    title = f"Points: steps over the bandwidth factor of networks of {size}. {listed}"
    axes = (f"T_B above the least T_B, {size} (square-root scale)", "T_L (steps)")
    bound = (moore_steps(frontier.nodes, frontier.degree), "thick lines: no network is better")
    return text(point_chart(title, axes, series, bound))


def _series(name: str, frontier: Frontier) -> PointSeries:
    least = least_factor(frontier.nodes)
    points = tuple(
        (float(100 * (each.cost.bandwidth_factor / least - 1)), each.cost.steps) for each in frontier.members
    )
    return PointSeries(name, points, tuple(map(_described, frontier.members)))


def _described(member: Construction) -> str:
    return f"{plural(member.cost.steps, 'step')}, {float(member.cost.bandwidth_factor):.3f}: {member.name}"
