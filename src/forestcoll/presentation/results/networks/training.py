"""The time of a training iteration as a page and as JSON."""

from collections.abc import Mapping

from forestcoll.base.errors import plural
from forestcoll.design.workloads import Iteration, Network, Profile
from forestcoll.presentation.results.networks.exchange_rates import exchange_document
from forestcoll.presentation.tables import Page, labelled
from forestcoll.presentation.text import duration


def training_document(
    model: Profile, network: Network, best: Iteration, by_bucket: Mapping[int, float]
) -> dict[str, object]:
    """Return the JSON object of an iteration.

    Args:
        model: the model that is trained.
        network: the network that it is trained on.
        best: the iteration with the best bucket size.
        by_bucket: the time of an iteration in microseconds, by bucket size in bytes.
    """
    return {
        "profile": model.name,
        "network": network.name,
        "nodes": network.nodes,
        "iteration_us": best.total_us,
        "computing_us": best.computing_us,
        "all_to_all_us": best.all_to_all_us,
        "allreduce_us": best.allreduce_us,
        "exposed_allreduce_us": best.exposed_allreduce_us,
        "all_to_all_rate": None if network.exchange is None else exchange_document(network.exchange),
        "bucket_bytes": best.bucket_bytes,
        "by_bucket": [{"bucket_bytes": size, "iteration_us": time} for size, time in by_bucket.items()],
    }


def training_page(model: Profile, network: Network, best: Iteration) -> Page:
    """Return the page of an iteration; the arguments are those of `training_document`."""

    def share(time: float) -> str:
        return f"{duration(time)}, {time / best.total_us:.0%}"

    exposed = f"{share(best.exposed_allreduce_us)} not hidden behind computing; {duration(best.allreduce_us)} in total"
    rows = [
        ("iteration", f"{duration(best.total_us)} with buckets of {plural(best.bucket_bytes, 'byte')}"),
        ("computing", share(best.computing_us)),
        ("all-to-all", share(best.all_to_all_us)),
        ("allreduce", exposed),
    ]
    if network.exchange is not None:
        rows.append(("all-to-all rate", network.exchange.description))
    return Page(f"{training_title(model, network)}, {network.nodes} nodes", (labelled(rows),))


def training_title(model: Profile, network: Network) -> str:
    """Return the title of the picture of an iteration."""
    return f"{model.name} on {network.name}"
