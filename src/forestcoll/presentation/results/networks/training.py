"""The time of a training iteration as a page and as a picture."""

from collections.abc import Mapping
from pathlib import Path

from forestcoll.base.errors import plural
from forestcoll.design.workloads import Iteration, NetworkRates, Profile
from forestcoll.design.workloads.iteration import Activity
from forestcoll.presentation.pictures.charts.gantt import Bar, gantt_chart
from forestcoll.presentation.pictures.charts.parts import headed
from forestcoll.presentation.pictures.raster import write_picture
from forestcoll.presentation.pictures.svg import text
from forestcoll.presentation.results.networks.exchange_rates import rate_row
from forestcoll.presentation.tables import Page, row
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

    whole = f"{duration(best.total_us)} with buckets of {plural(best.bucket_bytes, 'byte')}"
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


def draw_iteration(model: Profile, network: NetworkRates, best: Iteration, path: Path) -> None:
    """Draw the two streams of an iteration over time, as in Figure 16 of the direct-connect paper.

    Raises:
        InputError: the file cannot be written.
    """
    kinds = list(Activity)
    bars = [
        Bar(0 if each.kind.is_computing else 1, each.begin_us / 1000, each.end_us / 1000, kinds.index(each.kind))
        for each in best.intervals
    ]
    until = best.total_us / 1000
    title = f"{_title(model, network)}: {until:.4g} ms, buckets of {best.bucket_bytes:,} bytes"
    chart = gantt_chart(
        "Bars: the work of two streams", ("time (ms)", until), [("computation", 1), ("communication", 1)], bars, kinds
    )
    write_picture(text(headed([title], chart)), path)


def _title(model: Profile, network: NetworkRates) -> str:
    return f"{model.name} on {network.name}"
