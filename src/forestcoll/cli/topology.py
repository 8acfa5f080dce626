"""`forestcoll topology`: writes a topology file."""

from pathlib import Path

import click

from forestcoll.base.files import STANDARD_STREAM, is_standard_stream, is_stream
from forestcoll.cli.options import json_option, named_network, network_output_option, topology_argument


@click.command("topology")
@topology_argument
@network_output_option
@json_option
def command(topology: str, output: Path | None, *, as_json: bool) -> None:
    """Write a topology file.

    The file contains TOPOLOGY, and can be edited. Without -o, it is written to standard output. It is JSON, unless the
    name of FILE ends in .graphml (GraphML), .txt (the text that ASTRA-sim's ns-3 reads), or .yml or .yaml (the network
    file of ASTRA-sim's analytical model). With -o, the command also prints what was written, with --json as a
    JSON object.
    """
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.presentation.printing import print_json, print_page
    from forestcoll.presentation.results.networks.networks import network_document, written_network_page
    from forestcoll.topology.writers.formats import write_network

    with TerminalProgress() as progress:
        progress.begin("reading the topology")
        network = named_network(topology)
        progress.begin("writing")
        write_network(network, STANDARD_STREAM if output is None else output)
    if output is None or (is_stream(output) and not as_json):
        return
    if as_json:
        print_json(network_document(network, output), err=is_standard_stream(output))
    else:
        print_page(written_network_page(network, output))
