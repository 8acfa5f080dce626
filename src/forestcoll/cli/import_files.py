"""`forestcoll import`: reads files of other tools as a network, and says what was understood."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from forestcoll.base.files import is_standard_stream
from forestcoll.cli.options import Command, json_option, network_output_option
from forestcoll.cli.types import ChoiceOrDigits, FileName, FormatName, Speed

FORMAT_NAMES = (
    "forestcoll",
    "nccl-xml",
    "nvidia-smi-topo",
    "nvidia-smi-nvlink",
    "amd-smi",
    "hwloc-xml",
    "measurements",
    "p2p-bandwidth",
    "ibnetdiscover",
    "sndlib",
    "graphml",
    "gml",
    "infragraph",
    "slurm",
    "taccl",
    "astra-sim-ns3",
    "astra-sim-analytical",
    "node-link",
    "matrix",
    "edge-list",
    "adjacency-list",
)
"""The names of the formats, so that --help need not import them; `tests/cli` compares them with the table."""

_SPEEDS = {
    "--link-bandwidth": "The speed of links of any other kind.",
    "--nic": "The speed of a network card.",
    "--pcie": "The speed of a PCIe slot, such as 32 for PCIe 4.0 x16.",
    "--xgmi": "The speed of one link of AMD's Infinity Fabric, such as 64 on MI300X.",
    "--nvlink": "The speed of one NVLink, such as 25 on A100 and H100, and 50 on B200.",
}


CHOICES = {
    "--speeds": (
        ("nominal", "nccl"),
        "Link speeds by the type of a GPU: those that vendors publish, or those of NCCL's graph search.",
    ),
    "--matrix": (
        ("ports", "complete"),
        "Read a matrix of bandwidths as the ports of one switch, or as a link for each pair.",
    ),
    "--rounding": (
        ("speeds", "none"),
        "Round what forestcoll probe measured to published speeds, or not at all; or all numbers to 1 to 60 DIGITS.",
    ),
}
"""The choices of options, the default first, and their help; `tests/cli` compares them with `ImportOptions`."""


def _choice_option(name: str) -> Callable[[Command], Command]:
    choices, text = CHOICES[name]
    kind = ChoiceOrDigits(choices) if name == "--rounding" else click.Choice(choices)
    return click.option(name, type=kind, default=choices[0], show_default=True, help=text)


def _speed_options(command: Command) -> Command:
    for name, description in _SPEEDS.items():
        command = click.option(name, type=Speed(), metavar="GBPS", help=description)(command)
    return command


@click.command("import")
@click.argument("files", metavar="FILE...", type=FileName(), nargs=-1, required=True)
@click.option(
    "--format",
    "form",
    type=FormatName("importers"),
    metavar="FORMAT",
    help=f"The format of FILE: {', '.join(FORMAT_NAMES)}.  [default: found by the content]",
)
@_choice_option("--speeds")
@_speed_options
@_choice_option("--matrix")
@_choice_option("--rounding")
@network_output_option
@json_option
def command(files: tuple[Path, ...], form: str | None, output: Path | None, *, as_json: bool, **options: Any) -> None:
    """Read a file of another tool as a network.

    FILE is, for example, NCCL's topology XML (NCCL_TOPO_DUMP_FILE), the output of nvidia-smi topo -m, amd-smi topology
    or ibnetdiscover, the measurements of forestcoll probe, a GraphML file, or a matrix of bandwidths; docs/imports.md
    has all formats. Several files of hosts make one network, joined by their NICs. What was ignored and assumed is
    printed. A speed that the files do not state must be given by an option: in GB/s per link and direction, or with a
    unit, as in 400Gb/s.

    Commands that take TOPOLOGY read such files too; this command is for options and for seeing what was understood.
    """
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.presentation.printing import print_json, print_page
    from forestcoll.presentation.results.networks.imports import import_document, import_page
    from forestcoll.topology.importers.formats import import_topology
    from forestcoll.topology.importers.options import ImportOptions
    from forestcoll.topology.writers.formats import write_network

    with TerminalProgress() as progress:
        progress.begin("reading")
        imported = import_topology(*files, options=ImportOptions(**options), format=form)
        if output is not None:
            progress.begin("writing")
            write_network(imported.topology, output)
    err = is_standard_stream(output)
    if as_json:
        print_json(import_document(imported, output), err=err)
    else:
        print_page(import_page(imported, output), err=err)
