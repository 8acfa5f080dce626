"""What `forestcoll generate` does with a method of steps: generate, verify, write, report."""

from dataclasses import dataclass
from pathlib import Path

import click

from forestcoll.collective import Collective
from forestcoll.files import is_standard_stream

_NOT_FOR_STEPS = {
    "ranks": "--ranks",
    "root": "--root",
    "shards": "--shards",
    "trees": "--trees",
    "max_trees": "--max-trees",
}


@dataclass(frozen=True)
class StepsAsked:
    """What the command line asks of a method of steps."""

    topology: str
    collective: str
    method: str
    chunks: int | None
    data_size: int | None
    without: tuple[str, ...] = ()
    degrade: tuple[str, ...] = ()

    def check(self, *, compact: bool, **others: object) -> None:
        """Refuse options that are for trees, as wrong usage."""
        for name, option in _NOT_FOR_STEPS.items():
            if others[name] is not None:
                raise click.UsageError(f"{option} is for methods of trees; leave it out with --method {self.method}")
        if compact:
            raise click.UsageError(f"--compact is for methods of trees; leave it out with --method {self.method}")
        if Collective(self.collective).has_root:
            raise click.UsageError(
                f"--method {self.method} makes an allgather, a reduce-scatter or an allreduce, no {self.collective}"
            )


def generate_and_report(asked: StepsAsked, output: Path | None, *, as_json: bool) -> None:
    """Generate a step schedule, verify it, write it, and print what it is."""
    from forestcoll.cli.watching import Watch
    from forestcoll.generation.steps import generate_steps
    from forestcoll.presentation.printing import print_json, print_page
    from forestcoll.presentation.steps import generated_document, generated_page
    from forestcoll.schedule.files import write_schedule
    from forestcoll.topology.changes import changed_network
    from forestcoll.topology.registry import load_topology
    from forestcoll.verification import certified, verify

    with Watch() as watch:
        watch.begin("reading the topology")
        network = changed_network(load_topology(asked.topology), asked.without, asked.degrade)
        schedule = generate_steps(
            network,
            asked.collective,
            method=asked.method,
            chunks=asked.chunks,
            data_size=asked.data_size,
            progress=watch,
        )
        watch.begin("verifying")
        report = certified(verify(schedule))
        if output is not None:
            watch.begin("writing")
            write_schedule(schedule, output)
    err = is_standard_stream(output)
    if as_json:
        print_json(generated_document(schedule, report, asked.method, output, watch.seconds), err=err)
    else:
        print_page(generated_page(schedule, report, asked.method, output, watch.seconds), err=err)
