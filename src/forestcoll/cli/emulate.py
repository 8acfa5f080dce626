"""`forestcoll emulate`: runs a command once for each rank, on a network of namespaces with the rates of a topology."""

import click

from forestcoll.cli.file_types import TopologySpec
from forestcoll.cli.options import named_network


@click.command("emulate", context_settings={"ignore_unknown_options": False})
@click.argument("topology", metavar="TOPOLOGY", type=TopologySpec())
@click.argument("command", metavar="-- COMMAND", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option(
    "--scale",
    metavar="EMULATED=REAL",
    help="The ratio of emulated to real bandwidths, such as 500Mbit=300GB/s.  [default: as fast as the real links]",
)
@click.option(
    "--degrade",
    metavar="LINK=RATE@T",
    multiple=True,
    help="Change a link, both directions, T seconds after the start: A--B=10Mbit@5. RATE is a rate of the emulation; 0 "
    "is a failed link. May be given several times.",
)
@click.option(
    "--launcher",
    metavar="WORDS",
    default="",
    help="The program that starts the ranks, such as 'mpirun -n 8'.  [default: emulate starts them]",
)
@click.option(
    "--grace",
    type=float,
    metavar="SECONDS",
    default=30.0,
    show_default=True,
    help="How long the other ranks may go on after a rank has failed.",
)
def command(
    *, topology: str, command: tuple[str, ...], scale: str | None, degrade: tuple[str, ...], launcher: str, grace: float
) -> int:
    """Run COMMAND once for each rank on an emulated network.

    Each compute node of TOPOLOGY is a network namespace, each switch a bridge, and each link has its rate in each
    direction. COMMAND runs once for each compute node, with RANK, LOCAL_RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT
    set as by torchrun, and FORESTCOLL_TOPOLOGY, a file with the emulated rates. Needs root on Linux, and iproute2.

    All namespaces and processes end with the command, also if it is killed. The exit status is that of the first rank
    that failed, else 0.
    """
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.runtime.emulation import emulate, planned

    network = named_network(topology)
    emulation = planned(network, command, scale=scale, degrade=degrade, grace=grace, launcher=launcher)
    with TerminalProgress() as progress:
        return emulate(emulation, progress)
