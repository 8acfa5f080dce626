"""`forestcoll topology`: writes a topology file."""

import json
from pathlib import Path

import click

from forestcoll.cli.options import output_option, topology_argument


@click.command("topology")
@topology_argument
@output_option
def command(topology: str, output: Path | None) -> None:
    """Write a topology file.

    It holds TOPOLOGY, to be changed by hand, and goes to standard output unless -o names a file.
    """
    from forestcoll.topology import topology_to_document, write_topology
    from forestcoll.topology.registry import load_topology

    network = load_topology(topology)
    if output is None:
        click.echo(json.dumps(topology_to_document(network), indent=1))
    else:
        write_topology(network, output)
