"""`forestcoll topology`: writes a topology file."""

from pathlib import Path

import click

from forestcoll.cli.options import json_option, output_option, topology_argument
from forestcoll.files import STANDARD_STREAM, is_standard_stream


@click.command("topology")
@topology_argument
@output_option
@json_option
def command(topology: str, output: Path | None, *, as_json: bool) -> None:
    """Write a topology file.

    The file contains TOPOLOGY as JSON, which can be edited. Without -o, it is written to standard output. With -o and
    --json, the command also prints a summary of the file as a JSON object.
    """
    from forestcoll.presentation.networks import network_document
    from forestcoll.presentation.printing import print_json
    from forestcoll.topology import write_topology
    from forestcoll.topology.registry import load_topology

    network = load_topology(topology)
    write_topology(network, STANDARD_STREAM if output is None else output)
    if as_json and output is not None:
        print_json(network_document(network, output), err=is_standard_stream(output))
