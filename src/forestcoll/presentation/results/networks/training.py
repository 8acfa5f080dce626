"""The time of a training iteration as a page and as a picture."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from forestcoll.base.errors import plural
from forestcoll.design.workloads import Iteration, NetworkRates, Profile
from forestcoll.design.workloads.iteration import Activity
from forestcoll.design.workloads.sharded import LayoutTimes
from forestcoll.presentation.pictures.charts.bars import Bar as LengthBar
from forestcoll.presentation.pictures.charts.bars import bar_chart
from forestcoll.presentation.pictures.charts.gantt import Bar, gantt_chart
from forestcoll.presentation.pictures.charts.parts import headed
from forestcoll.presentation.pictures.raster import write_picture
from forestcoll.presentation.pictures.svg import text
from forestcoll.presentation.results.networks.exchange_rates import rate_row
from forestcoll.presentation.tables import Column, Page, Table, row
from forestcoll.presentation.text import duration


def training_page(model: Profile, network: NetworkRates, best: Iteration, by_bucket: Mapping[int, float]) -> Page:
    """Return the page of an iteration.

    Args:
        model: the model that is trained.
        network: the network that it is trained on.
        best: the iteration with the best bucket size.
        by_bucket: the time of an iteration in microseconds, by bucket size in bytes.
    """

    def share(time: float) -> str:
        return f"{duration(time)}, {time / best.total_us:.0%}"

    whole = f"{duration(best.total_us)} with buckets of {plural(best.bucket_bytes or 0, 'byte')}"
    exposed = f"{share(best.exposed_allreduce_us)} not hidden behind computing; {duration(best.allreduce_us)} in total"
    rows = (
        row(profile=model.name, network=network.name, nodes=network.nodes),
        row("iteration", whole, iteration_us=best.total_us, bucket_bytes=best.bucket_bytes),
        row("computing", share(best.computing_us), computing_us=best.computing_us),
        row("all-to-all", share(best.all_to_all_us), all_to_all_us=best.all_to_all_us),
        row("allreduce", exposed, allreduce_us=best.allreduce_us, exposed_allreduce_us=best.exposed_allreduce_us),
        rate_row("all-to-all rate", network.exchange),
        row(by_bucket=[{"bucket_bytes": size, "iteration_us": time} for size, time in by_bucket.items()]),
    )
    return Page(f"{_title(model, network)}, {network.nodes} nodes", rows)


def layouts_page(model: Profile, found: Sequence[tuple[LayoutTimes, Iteration]]) -> Page:
    """Return the page of iterations with one or more layouts and methods, in the order given.

    Args:
        model: the model that is trained.
        found: the iterations, each with its layout and the times of its collectives.
    """
    shown = [each for each in _COMMUNICATION if any(made.time_us(each) for _, made in found)]
    columns = (
        Column("layout", key="layout"),
        Column("method", key="method"),
        Column("batches", right=True, key="batches"),
        Column("iteration", duration, right=True, key="iteration_us"),
        Column("a batch", duration, right=True, key="batch_us"),
        Column("computing", duration, right=True, key="computing_us"),
        Column("not hidden", duration, right=True, key="exposed_us"),
        *(Column(str(each), duration, right=True, key=f"{each.replace('-', '_')}_us") for each in shown),
    )
    rows = tuple(
        (
            str(times.layout),
            times.method or "forestcoll",
            times.batches,
            made.total_us,
            made.total_us / times.batches,
            made.computing_us,
            made.exposed_us,
            *map(made.time_us, shown),
        )
        for times, made in found
    )
    notes = (
        "batches: how many are trained at the same time, one in each tp group; a batch: the iteration divided by them",
        "not hidden: the time in which nothing is computed; the columns after it: all of the collective, hidden or not",
    )
    table = Table(columns, rows, notes=tuple(f"  {each}" for each in notes), key="layouts")
    network, nodes = found[0][0].network, found[0][0].layout.ranks
    return Page(
        f"{model.name} on {network}, {nodes} nodes", (row(profile=model.name, network=network, nodes=nodes), table)
    )


_COMMUNICATION = tuple(each for each in Activity if not each.is_computing)
"""The collectives of layouts."""


def draw_layouts(model: Profile, found: Sequence[tuple[LayoutTimes, Iteration]], path: Path) -> None:
    """Draw the times of iterations as bars; of one iteration, draw the two streams.

    Raises:
        InputError: the file cannot be written.
    """
    if len(found) == 1:
        times, made = found[0]
        _draw_streams(f"{model.name} on {times.network}, {times.layout}", made, path)
        return
    least = min(made.total_us / times.batches for times, made in found)
    bars = [
        LengthBar(
            f"{times.layout} {times.method or 'forestcoll'}",
            made.total_us / times.batches / 1000,
            duration(made.total_us / times.batches),
            is_own=times.method is None,
        )
        for times, made in found
    ]
    computing = min(made.computing_us / times.batches for times, made in found) / 1000
    chart = bar_chart("Bars: the time of a batch", "time of a batch (ms)", bars, (computing, "computing alone"))
    title = f"{model.name} on {found[0][0].network}: the least time of a batch is {duration(least)}"
    write_picture(text(headed([title], chart)), path)


def draw_iteration(model: Profile, network: NetworkRates, best: Iteration, path: Path) -> None:
    """Draw the two streams of an iteration over time, as in Figure 16 of the direct-connect paper.

    Raises:
        InputError: the file cannot be written.
    """
    _draw_streams(f"{_title(model, network)}, buckets of {best.bucket_bytes:,} bytes", best, path)


def _draw_streams(title: str, best: Iteration, path: Path) -> None:
    kinds = list(Activity)
    bars = [
        Bar(0 if each.kind.is_computing else 1, each.begin_us / 1000, each.end_us / 1000, kinds.index(each.kind))
        for each in best.intervals
    ]
    until = best.total_us / 1000
    chart = gantt_chart(
        "Bars: the work of two streams", ("time (ms)", until), [("computation", 1), ("communication", 1)], bars, kinds
    )
    write_picture(text(headed([f"{title}: {until:.4g} ms"], chart)), path)


def _title(model: Profile, network: NetworkRates) -> str:
    return f"{model.name} on {network.name}"
