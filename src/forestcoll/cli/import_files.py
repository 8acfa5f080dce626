"""`forestcoll import`: reads files of other tools as a network, and says what was understood."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from forestcoll.base.files import is_standard_stream
from forestcoll.base.parameters import Bandwidth, NameOrInteger, Text
from forestcoll.cli.file_types import FileName
from forestcoll.cli.options import Command, HelpLaterOption, json_option, network_output_option
from forestcoll.cli.types import ChoiceOrDigits, OneOf, SpecText, Speed
from forestcoll.topology.importers.options import OPTIONS

if TYPE_CHECKING:
    from forestcoll.base.parameters import Choice
    from forestcoll.base.registry import Registry
    from forestcoll.topology.importers.importer import Importer


def _importers() -> "Registry":
    from forestcoll.topology.importers.importer import importers

    return importers


def _formats_help() -> str:
    from forestcoll.topology.importers.importer import by_content

    names = ", ".join(each.name for each in by_content())
    return f"The format of FILE: {names}.  [default: found by the content]"


def _importer_options(command: Command) -> Command:
    """Add the options of importers. A default is not passed on, so that it may be given for any format."""
    for each in reversed(OPTIONS):
        if isinstance(each.kind, Bandwidth):
            how: dict[str, Any] = {"type": Speed(), "metavar": "GBPS"}
        elif isinstance(each.kind, NameOrInteger):
            how = {"type": ChoiceOrDigits(each.kind), "default": each.default, "show_default": True}
        elif isinstance(each.kind, Text) and each.default is None:
            how = {"metavar": "NAME"}
        elif isinstance(each.kind, Text):
            how = {"callback": _joined, "metavar": "near|all|NAME,…", "default": each.default, "show_default": True}
        else:
            how = {"type": OneOf(cast("Choice", each.kind).names), "default": each.default, "show_default": True}
        command = click.option(f"--{each.name.replace('_', '-')}", help=each.meaning, **how)(command)
    return command


def _joined(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    """Return names between commas as the text of an importer has them, which has no commas."""
    return value.replace(",", "+")


@click.command("import")
@click.argument("files", metavar="FILE...", type=FileName(), nargs=-1, required=True)
@click.option(
    "--format",
    "importer",
    cls=HelpLaterOption,
    make_help=_formats_help,
    type=SpecText("format", _importers),
    metavar="FORMAT",
)
@click.option(
    "--hosts", type=click.IntRange(1, 4096), default=1, show_default=True, help="Hosts like that of each FILE."
)
@click.option("--name", metavar="NAME", help="The name of the network.  [default: that of the first FILE]")
@click.option("--names", metavar="NAME,…", help="The names of the hosts, in order.  [default: those of FILEs]")
@click.option("--lint", "is_lint", is_flag=True, help="Only say what NCCL will make of its topology XML.")
@_importer_options
@network_output_option
@json_option
def command(
    files: tuple[Path, ...],
    importer: "Importer | None",
    output: Path | None,
    *,
    name: str | None,
    names: str | None,
    is_lint: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Read a file of another tool as a network.

    FILE is, for example, NCCL's topology XML (NCCL_TOPO_DUMP_FILE), the output of nvidia-smi topo -m, amd-smi topology
    or ibnetdiscover, the measurements of forestcoll probe, a GraphML file, or a matrix of bandwidths; docs/imports.md
    has all formats. Several files of hosts make one network, joined by their NICs. What was ignored and assumed is
    printed. A speed that the files do not state must be given by an option: in GB/s per link and direction, or with a
    unit, as in 400Gb/s.

    Commands that take TOPOLOGY read such files too; this command is for options and for seeing what was understood.
    """
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.presentation.printing import print_result
    from forestcoll.presentation.results.networks.imports import import_page
    from forestcoll.topology.importers.reading import import_topology
    from forestcoll.topology.writers.formats import write_network

    if is_lint:
        _lint(files, output, as_json=as_json)
        return
    with TerminalProgress() as progress:
        progress.begin("reading")
        given = {each.name: options[each.name] for each in OPTIONS if options[each.name] != each.default}
        listed = [each.strip() for each in names.split(",")] if names else []
        imported = import_topology(*files, importer=importer, hosts=options["hosts"], names=listed, **given)
        if name:
            imported = replace(imported, topology=replace(imported.topology, name=name))
        if output is not None:
            progress.begin("writing")
            write_network(imported.topology, output)
    err = is_standard_stream(output)
    print_result(import_page(imported, output), as_json=as_json, err=err)


def _lint(files: tuple[Path, ...], output: Path | None, *, as_json: bool) -> None:
    """Print what NCCL will make of its topology XML."""
    from forestcoll.base.files import read_bytes
    from forestcoll.nccl.lint import lint
    from forestcoll.presentation.printing import print_result
    from forestcoll.presentation.results.networks.imports import lint_page
    from forestcoll.topology.importers.source import Source

    if output is not None:
        raise click.UsageError("--lint writes no network; leave -o out")
    found = {path: lint(Source.of(read_bytes(path), path)) for path in files}
    print_result(lint_page(found), as_json=as_json)
