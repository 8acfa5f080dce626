"""`forestcoll generate`: a schedule that reaches the optimum, verified before it is written."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forestcoll.cli.options import (
    Asked,
    collective_options,
    json_option,
    output_option,
    topology_argument,
)
from forestcoll.cli.step_generation import StepsAsked, generate_and_report
from forestcoll.cli.types import DataSize
from forestcoll.files import is_standard_stream
from forestcoll.method import Method, StepMethod

if TYPE_CHECKING:
    from forestcoll.cli.watching import Watch
    from forestcoll.optima.value import Optimum
    from forestcoll.schedule.trees.shape import Shape
    from forestcoll.schedule.trees.value import TreeSchedule


@click.command("generate")
@topology_argument
@collective_options
@click.option(
    "--method",
    type=click.Choice([each.value for each in (*Method, *StepMethod)]),
    default=Method.AUTO.value,
    show_default=True,
    help="How trees are found: grown, packed by the paper's way, or grown and, if need be, packed; or steps, on a "
    "network without switches: breadth-first broadcast (bfb), or a well-known algorithm.",
)
@click.option(
    "--chunks",
    type=click.IntRange(min=1),
    metavar="P",
    help="Of bfb: cut shards into P equal chunks, not anywhere; of double-binary-tree: pieces in the pipeline.",
)
@click.option(
    "--size",
    "data_size",
    type=DataSize(),
    metavar="SIZE",
    help="Of bfb: the data M, as 1MB, for which links' latencies are weighed against their bandwidths.",
)
@click.option(
    "--compact", is_flag=True, help="Hold a symmetry of the network and the trees that the others are images of."
)
@output_option
@json_option
@click.option("-v", "--verbose", is_flag=True, help="Also print what the run did.")
def command(  # noqa: PLR0913 (one parameter an option)
    *,
    topology: str,
    method: str,
    chunks: int | None,
    data_size: int | None,
    compact: bool,
    output: Path | None,
    as_json: bool,
    verbose: bool,
    **options: Any,
) -> None:
    """Write a schedule that reaches the optimum, verified.

    The optimum is that of a collective on TOPOLOGY; a schedule that the verifier refuses is never written.
    """
    from forestcoll.cli.watching import Watch
    from forestcoll.generation.forest import schedule_for
    from forestcoll.presentation import parts as part_wording
    from forestcoll.presentation import wording
    from forestcoll.schedule.trees.document import write_schedule
    from forestcoll.schedule.trees.shape import shape_of
    from forestcoll.schedule.trees.traffic import traffic_of

    if method in set(StepMethod):
        steps = StepsAsked(topology, options["collective"], method, chunks, data_size)
        steps.check(compact=compact, **options)
        generate_and_report(steps, output, as_json=as_json)
        return
    if chunks is not None or data_size is not None:
        raise click.UsageError("--chunks and --size are for methods of steps; leave them out for trees")
    asked = Asked(**options)
    asked.check()
    with Watch() as watch:
        watch.begin("reading the topology")
        network = asked.network(topology)
        best, by_trees = asked.optimum(network, watch)
        schedule = schedule_for(best, method=method, compact=compact, progress=watch)
        watch.begin("verifying")
        _check(schedule)
        shape, traffic = shape_of(schedule), traffic_of(schedule)
        best = _achieved(best, schedule)
        gain = asked.without_relays(best, watch)
        if output is not None:
            watch.begin("writing")
            write_schedule(schedule, output)
    err = is_standard_stream(output)
    if as_json:
        wording.print_json(
            _document(best, shape, output, watch)
            | part_wording.part_document(best, gain)
            | wording.traffic_document(traffic)
            | wording.by_trees_document(by_trees),
            err=err,
        )
        return
    lines = [
        wording.title(best),
        *wording.table(
            [
                *wording.optimum_rows(best),
                *part_wording.relay_rows(best, gain),
                *wording.shape_rows(shape),
                *wording.traffic_rows(traffic),
                *_run_rows(output, watch, verbose=verbose),
            ]
        ),
        *wording.by_trees_lines(by_trees),
        *wording.bottleneck_lines(best),
        *part_wording.unused_lines(best),
    ]
    wording.print_lines(lines, err=err)


def _check(schedule: "TreeSchedule") -> None:
    """Let the independent judge see what the generator made; a fault is ours, and nothing is written."""
    from forestcoll.errors import InternalError
    from forestcoll.verification import verify

    fault = verify(schedule).fault
    if fault is not None:
        raise InternalError(f"the generated schedule breaks a rule: {fault.message}")


def _achieved(best: "Optimum", schedule: "TreeSchedule") -> "Optimum":
    """Return `best` with the bandwidth of the schedule: the two forests of an allreduce may give way to each other."""
    return replace(best, algbw=schedule.algbw, tree_bandwidth=best.tree_bandwidth * schedule.algbw / best.algbw)


def _document(best: "Optimum", shape: "Shape", output: Path | None, watch: "Watch") -> dict[str, object]:
    from forestcoll.presentation import wording

    return wording.optimum_document(best) | {
        "optimal": best.algbw == best.bound,
        "verified": True,
        "output": None if output is None else str(output),
        "trees": shape.trees,
        "base_trees": shape.base_trees,
        "group_order": shape.group_order,
        "greatest_height": shape.greatest_height,
        "mean_height": shape.mean_height,
        "greatest_hops": shape.greatest_hops,
        "mean_hops": shape.mean_hops,
        "seconds": {stage: round(passed, 6) for stage, passed in watch.seconds.items()},
        "counters": watch.counters,
    }


def _run_rows(output: Path | None, watch: "Watch", *, verbose: bool) -> list[tuple[str, str]]:
    from forestcoll.presentation import wording

    rows = [
        ("verified", "delivery, loads, algbw and the bottleneck cut"),
        ("time", ", ".join(f"{stage} {passed:.3f} s" for stage, passed in watch.seconds.items())),
    ]
    if verbose:
        rows.append(("run", ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in watch.counters.items())))
    return [*rows, ("written", wording.place(output))]
