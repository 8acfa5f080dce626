"""The best networks for a job as a page."""

from collections.abc import Sequence

from forestcoll.base.errors import plural
from forestcoll.design.workloads.job import JobNetwork, Ranking
from forestcoll.presentation.tables import Column, Page, Table, row
from forestcoll.presentation.text import duration


def ranking_page(ranking: Ranking, written: Sequence[str] = ()) -> Page:
    """Return the page of the best networks for a job.

    Args:
        ranking: the networks.
        written: the names of the files of the best network.
    """
    best, name = ranking.networks[0], ranking.job.profile.name
    placed = any(each.times.placement.name for each in ranking.networks)
    columns = (
        Column("time", duration, right=True, key="time_us"),
        Column("longer", "{:+.1%}".format, right=True),
        Column("diameter", right=True, key="diameter"),
        Column("network", key="name"),
        *([Column("ranks", key="placement")] if placed else []),
    )
    rows = tuple(
        (
            each.time_us,
            each.time_us / best.time_us - 1,
            each.times.network.main.diameter,
            each.times.network.main.name,
            *([each.times.placement.name or "numbered as the network"] if placed else []),
        )
        for each in ranking.networks
    )
    counted = plural(ranking.compared, "network") + f" with {plural(ranking.placements, 'placement')} of ranks" * placed
    notes = (
        f"compared: {counted}; {ranking.measured} measured, the others are slower by their bounds",
        *_rates(ranking),
    )
    chosen = row(
        nodes=ranking.nodes,
        degree=ranking.degree,
        profile=name,
        compared=ranking.compared,
        placements=ranking.placements,
        measured=ranking.measured,
        chosen=best.times.network.main.name,
        order=best.times.placement.order.tolist(),
        construction=best.times.network.main.to_document(),
        output=list(written),
    )
    sentences = [f"Written: {', '.join(written)}."] if written else []
    title = f"networks of {ranking.nodes} nodes, degree {ranking.degree}, for {name}"
    return Page(title, (Table(columns, rows, notes=notes, key="networks"), *_parts(ranking, best), chosen, *sentences))


def _rates(ranking: Ranking) -> list[str]:
    rates = [each.times.exchange for each in ranking.networks]
    return [f"all-to-all: {each}" for each in dict.fromkeys(rate.description for rate in rates if rate is not None)]


def _parts(ranking: Ranking, best: JobNetwork) -> tuple[Table | str, ...]:
    """Return the times of the collectives on the best network, or the parts of an iteration in words."""
    name = best.times.network.main.name
    if best.iteration is not None:
        computing, waiting = duration(best.iteration.computing_us), duration(best.iteration.exposed_us)
        return (f"An iteration on {name}: {computing} of computing, {waiting} of waiting.",)
    columns = (
        Column("collective", key="collective"),
        Column("bytes", "{:,}".format, right=True, key="size"),
        Column("weight", "{:.4g}".format, right=True, key="weight"),
        Column("time", duration, right=True, key="time_us"),
        Column("schedule", key="schedule"),
    )
    listed = zip(ranking.job.profile.collectives, ranking.job.sized, strict=True)
    rows = tuple(
        (each.collective, size, weight, best.times.us(demand, size), best.times.schedule(demand, size))
        for each, (demand, size, weight) in listed
    )
    return (Table(columns, rows, title=f"On {name}:", key="collectives"),)
