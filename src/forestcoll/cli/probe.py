"""`forestcoll probe`: measures a cluster by sends between its ranks, and writes the measurements."""

import sys
from pathlib import Path

import click

from forestcoll.cli.file_types import FirstRankFile
from forestcoll.cli.options import json_option
from forestcoll.cli.terminal_progress import TerminalProgress
from forestcoll.cli.types import SIZES, IntegerFrom, MessageSizes, OneOf


class _Stages(TerminalProgress):
    """Prints the name of each stage where standard error is not a terminal."""

    def begin(self, stage: str) -> None:
        """See `Progress.begin`."""
        super().begin(stage)
        if not sys.stderr.isatty():
            click.echo(f"forestcoll: {stage}", err=True)


@click.command("probe")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=FirstRankFile(".json"),
    required=True,
    help="The file to write, compressed by gzip if the name ends in .gz.",
)
@click.option(
    "--sizes",
    type=MessageSizes(),
    default="1M..1G",
    show_default=True,
    metavar="SIZES",
    help=f"Sizes of a send: {SIZES} The least that takes 5 ms is used, else the greatest.",
)
@click.option(
    "--repeat",
    type=IntegerFrom(1),
    default=3,
    show_default=True,
    metavar="N",
    help="The runs of which each time is the median.",
)
@click.option(
    "--backend",
    type=OneOf(["auto", "gloo", "nccl", "mpi"]),
    default="auto",
    show_default=True,
    help="What carries the data: auto is MPI under mpirun, else nccl where there are GPUs, else gloo.",
)
@json_option
def command(
    *,
    output: Path,
    sizes: tuple[int, ...],
    repeat: int,
    backend: str,
    as_json: bool,
) -> None:
    """Measure a cluster by sends between its ranks.

    Each process of a launcher runs this: torchrun, mpirun or forestcoll emulate. Rank 0 writes FILE, and forestcoll
    import makes a network of it, which fits the measurements. Ranks send to one other, to several and from several, of
    their host and of other hosts, so that ports, direct links, shared NICs and uplinks can be told apart. Ranks are on
    the same host if they have the same host name, or the same FORESTCOLL_HOST. FORESTCOLL_INTERFACE is the address of
    this process, FORESTCOLL_SECRET what all processes must know to join, and FORESTCOLL_TIMEOUT how many seconds to
    wait for another process at most (120).
    """
    from forestcoll.base.files import check_writable, is_standard_stream, write_text
    from forestcoll.measurement.probe import ProbeRequest, probe
    from forestcoll.presentation.printing import print_result
    from forestcoll.presentation.results.measurements.probe import probe_page
    from forestcoll.runtime.launch import join
    from forestcoll.topology.importers.measurements.document import measurements_text

    request = ProbeRequest(sizes, repeat, backend)
    launch = join(uses_mpi=backend in {"auto", "mpi"}, command="probe")
    launch.only_first(lambda: check_writable(output))
    with _Stages() if launch.rank == 0 else TerminalProgress() as progress:
        found = probe(launch, request, progress=progress)

    def write() -> None:
        if found is None:
            return
        write_text(output, [measurements_text(found)])
        err = is_standard_stream(output)
        print_result(probe_page(found, output), as_json=as_json, err=err)

    launch.only_first(write)
    launch.close()
