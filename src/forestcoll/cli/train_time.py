"""`forestcoll train-time`: how long an iteration of training takes on a network."""

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forestcoll.cli.options import json_option

if TYPE_CHECKING:
    from forestcoll.training import Iteration, Network, Profile
    from forestcoll.training.switch_transformer import SwitchTransformer


def _alpha(_context: click.Context, parameter: click.Parameter, text: str) -> Fraction:
    from forestcoll.exact import to_fraction

    try:
        alpha = to_fraction(text)
    except ValueError:
        raise click.BadParameter(f"{text!r}; expected microseconds such as 10", param=parameter) from None
    if alpha < 0:
        raise click.BadParameter(f"{text}; expected 0 or more", param=parameter)
    return alpha


def _sizes(_context: click.Context, parameter: click.Parameter, text: str | None) -> tuple[int, ...]:
    from forestcoll.errors import InputError
    from forestcoll.training import DEFAULT_BUCKETS
    from forestcoll.units import data_size

    if text is None:
        return DEFAULT_BUCKETS
    try:
        return tuple(data_size(part) for part in text.split(","))
    except InputError as error:
        raise click.BadParameter(str(error), param=parameter) from None


def _picture(_context: click.Context, _parameter: click.Parameter, text: str | None) -> Path | None:
    return None if text is None else Path(text)


@click.command("train-time")
@click.argument("profile", metavar="PROFILE")
@click.argument("network", metavar="NETWORK")
@click.option("--alpha", default="10", callback=_alpha, metavar="US", help="Latency of a step in microseconds; 10.")
@click.option("--buckets", callback=_sizes, metavar="SIZES", help="Sizes of buckets to try; 1MB,10MB,100MB,1GB.")
@click.option("--picture", callback=_picture, metavar="FILE", help="Draw the timeline: .png, .svg or .pdf.")
@json_option
def command(  # noqa: PLR0913 (one parameter an option)
    *, profile: str, network: str, alpha: Fraction, buckets: tuple[int, ...], picture: Path | None, as_json: bool
) -> None:
    """Say how long training takes on a network.

    Of an iteration what it waits for: computing, all-to-alls, allreduces that nothing hides.

    PROFILE is a file (forestcoll.profile/1), or a sample: switch-base-256, switch-large-128 or switch-c-2048. NETWORK
    is a topology, on which allreduce goes breadth first, or the file of an allreduce schedule.
    """
    from forestcoll.cli.watching import Watch
    from forestcoll.pictures.timeline import draw_iteration
    from forestcoll.presentation import text
    from forestcoll.training import best_iteration, iterate, network_of_file, read_profile
    from forestcoll.training.switch_transformer import switch_profile

    with Watch() as watch:
        watch.begin("measuring the network")
        given = None if profile in _samples() else read_profile(Path(profile))
        exchanges = given is None or any(layer.exchange_bytes for layer in given.layers)
        measured = network_of_file(network, alpha_us=alpha, exchanges=exchanges, progress=watch)
        model = given or switch_profile(_samples()[profile], measured.nodes)
        best = best_iteration(model, measured, buckets)
        tried = {size: iterate(model, measured, size).total_us for size in buckets}
        if picture is not None:
            watch.begin("drawing")
            draw_iteration(best, f"{model.name} on {measured.name}", picture)
    if as_json:
        text.print_json(_document(model, measured, best, tried))
        return
    text.print_lines(_lines(model, measured, best))


def _samples() -> dict[str, "SwitchTransformer"]:
    from forestcoll.training.switch_transformer import SWITCH_TRANSFORMERS

    return {sample.name: sample for sample in SWITCH_TRANSFORMERS}


def _document(model: "Profile", network: "Network", best: "Iteration", tried: dict[int, float]) -> dict[str, object]:
    return {
        "profile": model.name,
        "network": network.name,
        "nodes": network.nodes,
        "iteration_us": best.total_us,
        "computing_us": best.computing_us,
        "all_to_all_us": best.all_to_all_us,
        "allreduce_us": best.allreduce_us,
        "exposed_allreduce_us": best.exposed_allreduce_us,
        "bucket_bytes": best.bucket_bytes,
        "by_bucket": [{"bucket_bytes": size, "iteration_us": time} for size, time in tried.items()],
    }


def _lines(model: "Profile", network: "Network", best: "Iteration") -> list[str]:
    from forestcoll.presentation import text

    def share(time: float) -> str:
        return f"{time / 1000:.4g} ms, {time / best.total_us:.0%}"

    rows = [
        ("iteration", f"{best.total_us / 1000:.4g} ms with buckets of {best.bucket_bytes:,} bytes"),
        ("computing", share(best.computing_us)),
        ("all-to-all", share(best.all_to_all_us)),
        (
            "allreduce",
            f"{share(best.exposed_allreduce_us)} that nothing hides; {best.allreduce_us / 1000:.4g} ms in all",
        ),
    ]
    return [f"{model.name} on {text.printable(network.name)}, {network.nodes} nodes", *text.table(rows)]
