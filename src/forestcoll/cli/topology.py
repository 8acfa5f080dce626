"""`forestcoll topology`: writes a topology file."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from forestcoll.cli.options import json_option, output_option, topology_argument
from forestcoll.files import is_standard_stream

if TYPE_CHECKING:
    from forestcoll.topology import Topology


@click.command("topology")
@topology_argument
@output_option
@json_option
def command(topology: str, output: Path | None, *, as_json: bool) -> None:
    """Write a topology file.

    It holds TOPOLOGY, to be changed by hand, and goes to standard output unless -o names a file. It is JSON in any
    case: --json makes a difference only beside -o, and prints what was written where.
    """
    from forestcoll.files import STANDARD_STREAM
    from forestcoll.topology import write_topology
    from forestcoll.topology.registry import load_topology

    network = load_topology(topology)
    write_topology(network, STANDARD_STREAM if output is None else output)
    if as_json and output is not None:
        _print_summary(network, output)


def _print_summary(network: "Topology", output: Path) -> None:
    import json

    document = {
        "topology": network.name,
        "compute_nodes": len(network.compute),
        "switches": len(network.switches),
        "links": len(network.links),
        "unit": network.bandwidth_unit,
        "output": str(output),
    }
    click.echo(json.dumps(document, indent=1), err=is_standard_stream(output))
