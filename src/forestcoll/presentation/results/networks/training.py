"""The time of a training iteration as a page and as a picture."""

from pathlib import Path

from forestcoll.base.errors import plural
from forestcoll.design.workloads.asked import Compared, TrainedOnce
from forestcoll.design.workloads.iteration import Activity, Iteration
from forestcoll.presentation.pictures.charts.gantt import Bar, gantt_chart
from forestcoll.presentation.pictures.charts.parts import headed
from forestcoll.presentation.pictures.raster import write_picture
from forestcoll.presentation.pictures.svg import Element, text
from forestcoll.presentation.results.networks.exchange_rates import rate_row
from forestcoll.presentation.results.networks.iterations import cases_chart, compared_page
from forestcoll.presentation.tables import Page, row
from forestcoll.presentation.text import duration, time_unit


def training_page(answer: TrainedOnce | Compared) -> Page:
    """Return the page of an answer."""
    return compared_page(answer) if isinstance(answer, Compared) else _page(answer)


def _page(answer: TrainedOnce) -> Page:
    network, best = answer.network, answer.best

    def share(time: float) -> str:
        return f"{duration(time)}, {time / best.total_us:.0%}"

    whole = f"{duration(best.total_us)} with buckets of {plural(best.bucket_bytes or 0, 'byte')}"
    exposed = f"{share(best.exposed_allreduce_us)} not hidden behind computing; {duration(best.allreduce_us)} in total"
    rows = (
        row(profile=answer.model.name, network=network.name, nodes=network.nodes),
        row("iteration", whole, iteration_us=best.total_us, bucket_bytes=best.bucket_bytes),
        row("computing", share(best.computing_us), computing_us=best.computing_us),
        row("all-to-all", share(best.all_to_all_us), all_to_all_us=best.all_to_all_us),
        row("allreduce", exposed, allreduce_us=best.allreduce_us, exposed_allreduce_us=best.exposed_allreduce_us),
        rate_row("all-to-all rate", network.exchange),
        row(by_bucket=[{"bucket_bytes": size, "iteration_us": time} for size, time in answer.by_bucket.items()]),
    )
    return Page(f"{answer.model.name} on {network.name}, {network.nodes} nodes", rows)


def draw_training(answer: TrainedOnce | Compared, path: Path) -> None:
    """Draw the two streams of an iteration over time, or several iterations as bars or lines.

    Raises:
        InputError: the file cannot be written.
    """
    write_picture(text(_picture(answer)), path)


def _picture(answer: TrainedOnce | Compared) -> Element:
    if isinstance(answer, TrainedOnce):
        best = answer.best
        where = f"{answer.model.name} on {answer.network.name}"
        return _streams(f"{where}, buckets of {plural(best.bucket_bytes or 0, 'byte')}", best)
    first, networks = answer.cases[0], answer.networks
    where = f"{answer.name} on {networks[0] if len(networks) == 1 else plural(len(networks), 'network')}"
    if len(answer.cases) == 1:
        return _streams(where if first.layout is None else f"{where}, {first.layout}", first.iteration)
    least = duration(min(case.batch_us for case in answer.cases))
    return headed([f"{where}: the least time of a batch is {least}"], cases_chart(answer.cases))


def _streams(title: str, made: Iteration) -> Element:
    """Return the two streams of an iteration over time, as in Figure 16 of the direct-connect paper."""
    kinds, (unit, size) = list(Activity), time_unit(made.total_us)
    bars = [
        Bar(0 if each.kind.is_computing else 1, each.begin_us / size, each.end_us / size, kinds.index(each.kind))
        for each in made.intervals
    ]
    axis, rows = (f"time ({unit})", made.total_us / size), [("computation", 1), ("communication", 1)]
    chart = gantt_chart("Bars: the work of two streams", axis, rows, bars, kinds)
    return headed([f"{title}: {duration(made.total_us)}"], chart)
