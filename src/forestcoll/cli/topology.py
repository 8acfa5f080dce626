"""`forestcoll topology`: writes a network in any format, or lists the builders of networks."""

from pathlib import Path
from typing import Any

import click

from forestcoll.base.files import STANDARD_STREAM, is_standard_stream, is_stream
from forestcoll.cli.file_types import FileName, TopologySpec
from forestcoll.cli.options import change_options, json_option, named_network, network_output_option
from forestcoll.cli.types import FormatName


@click.command("topology")
@click.argument("topology", metavar="[TOPOLOGY|WORD]", required=False, type=TopologySpec())
@change_options
@network_output_option
@click.option(
    "--to",
    type=FormatName(),
    metavar="FORMAT",
    help="The format: forestcoll (JSON), graphml, astra-sim-ns3, astra-sim-analytical, NCCL's topology file of a "
    "host: nccl-topo, nccl-topo-vm (a folder if hosts differ), or cabling: the cables of a network without "
    "switches, from port to port.  [default: by the ending of FILE: .json, .graphml, .txt, and .yml or .yaml]",
)
@click.option(
    "--cabled",
    type=FileName(),
    metavar="FILE",
    help="With --to cabling: the cables that are there, a file of --to cabling. As many as possible stay; the list "
    "says which to remove and to connect.",
)
@json_option
def command(
    topology: str | None, output: Path | None, to: str | None, cabled: Path | None, *, as_json: bool, **changes: Any
) -> None:
    """Write a network in any format, or list the builders.

    The file contains TOPOLOGY, and can be edited. Without -o, it is written to standard output. With -o, the command
    also prints what was written, with --json as a JSON object.

    Without TOPOLOGY, the command lists the builders: their parameters with default values, and the sources of their
    figures. A WORD that is neither a builder nor a file lists the builders with WORD in their name or summary. The name
    of a builder, such as torus, is a network with default values; a part of it, such as toru, shows its parameters.
    """
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.presentation.printing import print_result
    from forestcoll.presentation.results.networks.builders import builders_page
    from forestcoll.presentation.results.networks.networks import written_network_page
    from forestcoll.topology.registry import listed_builders
    from forestcoll.topology.writers.cabling import write_cabling
    from forestcoll.topology.writers.formats import write_network

    if output is None and to is None and not any(changes.values()) and (listed := listed_builders(topology)):
        print_result(builders_page(listed), as_json=as_json)
        return
    if topology is None:
        raise click.UsageError("-o, --to, --without and --degrade are for one network; also give TOPOLOGY")
    if cabled is not None and to != "cabling":
        raise click.UsageError("--cabled is the file of cables that are there; also give --to cabling")
    with TerminalProgress() as progress:
        progress.begin("reading the topology")
        network = named_network(topology, **changes)
        progress.begin("writing")
        file = STANDARD_STREAM if output is None else output
        steps = write_cabling(network, file, cabled) if to == "cabling" else None
        if steps is None:
            write_network(network, file, to)
    if output is None or (is_stream(output) and not as_json):
        return
    print_result(written_network_page(network, output, steps), as_json=as_json, err=is_standard_stream(output))
