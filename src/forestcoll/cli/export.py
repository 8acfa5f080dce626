"""`forestcoll export`: writes a schedule as a program for a runtime."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forestcoll.base.errors import InputError
from forestcoll.base.files import input_name, is_standard_stream, path_of
from forestcoll.cli.file_types import OutputFile, check_ending
from forestcoll.cli.options import (
    HelpLaterOption,
    dialect_option,
    json_option,
    named_network,
    names_schedule,
    outputs_option,
    refuse_for_file,
    schedule_of_source,
    source_options,
    usage_of,
)
from forestcoll.cli.types import DataSize, SpecText

if TYPE_CHECKING:
    from forestcoll.base.progress import Progress
    from forestcoll.base.registry import Registry
    from forestcoll.nccl.graph.hosts import HostGraph
    from forestcoll.nccl.graph.target import NcclGraph
    from forestcoll.programs.targets.target import Target


def _formats() -> "Registry":
    """Return the formats of programs, and `nccl-graph`, which is no program."""
    from forestcoll.nccl.graph.target import NCCL_GRAPH
    from forestcoll.programs.targets.target import targets

    return targets.including(NCCL_GRAPH)


def _formats_help() -> str:
    """Return all formats and what they are."""
    formats = [f"{name} ({summary})" for name, summary in _formats().completions().items()]
    return f"The format: {', '.join(formats)}; with keys, listed below, such as msccl-xml:channels=2,chunks=64."


def _keys() -> list[tuple[str, str]]:
    """Return each key of a format with its meaning, values and default, and the formats that have it unless all do."""
    formats = _formats()
    specs = [spec for spec in formats.all() if spec.parameters]
    found = {each.name: each for spec in specs for each in spec.parameters}
    having = {name: formats.having(name) for name in found}
    of = {name: "" if len(names) == len(specs) else f"for {', '.join(names)}; " for name, names in having.items()}
    return [
        (f"{name}=", f"{each.meaning}: {each.kind.form}.  [{of[name]}default: {each.default_text}]")
        for name, each in found.items()
    ]


class _ExportCommand(click.Command):
    """The command, whose help also explains the keys of formats."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_options(ctx, formatter)
        with formatter.section("Keys of --to"):
            formatter.write_dl(_keys())


_STATED = "forestcoll.export.stated"
"""Where the context holds the values of the keys in the text of `--to`."""


class _FormatText(SpecText):
    """A format, whose keys other options must not contradict."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> "Target | object":
        """Return the format, and note the keys that its text has, which options must not contradict."""
        target = super().convert(value, param, ctx)
        if ctx is not None and isinstance(value, str) and ":" in value:
            ctx.meta[_STATED] = _formats().named(value.partition(":")[0]).values(value.partition(":")[2])
        return target


class _ProgramFile(OutputFile):
    """The file or folder that -o names. `--to`, which is read first, decides which of them."""

    def is_folder_of(self, ctx: click.Context | None) -> bool:
        """Return whether the format is a folder."""
        return ctx is not None and ctx.params["target"].is_folder

    def check(self, path: Path, values: Mapping[str, Any]) -> None:
        """Check the output as its format needs it."""
        check_ending(path, values["target"].endings)
        values["target"].check_output(path)


@click.command("export", cls=_ExportCommand)
@source_options
@click.option(
    "--to",
    "target",
    cls=HelpLaterOption,
    make_help=_formats_help,
    type=_FormatText("format", _formats),
    metavar="NAME[:KEY=VALUE…]",
    required=True,
    is_eager=True,
)
@dialect_option("For msccl-xml: the runtime that loads the file.  [default: microsoft]")
@click.option(
    "--bytes",
    type=DataSize(),
    metavar="SIZE",
    help="For formats of simulators: the data size M, such as 64KiB.  [default: 1GB]",
)
@click.option(
    "--size",
    type=DataSize(),
    metavar="SIZE",
    help="For runtimes: the data size M that the program and its protocol are chosen for, such as 1MiB.  [default: 1GB "
    "with Simple]",
)
@outputs_option(
    "A file to write: program or, for mscclpp-json, snippet (Python code that registers the plan).",
    program=_ProgramFile(),
    snippet=OutputFile(".py"),
)
@json_option
def command(*, target: "Target | NcclGraph", output: Mapping[str, Path], as_json: bool, **options: Any) -> None:
    """Write a schedule as a program for a runtime.

    FILE is a schedule of trees, of steps, or of the flows of an all-to-all; - is standard input. It is exported as it
    is. For TOPOLOGY, a schedule is generated first, for the runtime. Options of the program that --to does not give are
    chosen by a simulation, within the limits of the runtime. The report states the sizes for which the runtime uses the
    program, and the expected bandwidth. If not all trees or flows fit, those with the largest shares are kept, and the
    report states the loss of bandwidth. Before a program is written, it is read back and executed on symbolic data; of
    Chakra traces, only messages and dependencies are checked. If the program is long, a note first states the time, the
    memory and the size of the files that it will take.

    For nccl-graph, FILE is a schedule of rings, or a dump of NCCL (NCCL_GRAPH_DUMP_FILE), which loses
    its ranks. For TOPOLOGY, the file has the fewest channels of one speed that reach the optimum of rings. If hosts
    differ, -o names a folder, which gets a file for each kind of host.

    Chakra traces are one file per rank: with -o PREFIX, the files are PREFIX.0.et, PREFIX.1.et, and so on. For
    astra-sim, -o names a folder; it gets the traces, a workload, and all settings of a simulation.
    """
    from forestcoll.base.files import write_text
    from forestcoll.base.together import written_together
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.nccl.graph.target import NcclGraph
    from forestcoll.presentation.printing import print_result
    from forestcoll.presentation.results.programs.programs import export_page
    from forestcoll.programs.targets.target import RuntimeTarget
    from forestcoll.tuning.programs.export import export

    target = _with_options(target, {name: options.pop(name) for name in ("dialect", "bytes")})
    usage_of(target.check_outputs, output)
    program = output.get("program")
    if options["size"] is not None and not isinstance(target, RuntimeTarget):
        raise click.UsageError(f"--size is for msccl-xml and mscclpp-json; leave it out for {target.name}")
    if isinstance(target, NcclGraph):
        _export_graphs(target, program, options, as_json=as_json)
        return
    path, method = path_of(options["source"]), options["method"]
    is_generated = not method and not names_schedule(options["source"])
    source = input_name(path)
    with TerminalProgress() as progress:
        schedule, _ = schedule_of_source(options, progress)
        with _refused_as(source, schedule.topology.name):
            done = export(schedule, target, size=options["size"], progress=progress, is_generated=is_generated)
        if method:
            made = f"the schedule was generated first, with --method {method}"
            done = replace(done, remarks=(made, *done.remarks))
        if program is not None:
            progress.begin("writing")
            with written_together():
                done.write(program)
                if "snippet" in output:
                    write_text(output["snippet"], [done.snippet(program.name)])
    err = is_standard_stream(program)
    print_result(export_page(done, program, progress.seconds), as_json=as_json, err=err)


@contextmanager
def _refused_as(source: str, name: str) -> Iterator[None]:
    """Let messages about the schedule on a network begin with its source, which the user knows, instead of the name."""
    try:
        yield
    except InputError as error:
        about, colon, what = str(error).partition(f"{name}: ")
        raise InputError(f"{source}: {what}" if colon and not about else str(error)) from None


def _export_graphs(target: "NcclGraph", output: Path | None, options: dict[str, Any], *, as_json: bool) -> None:
    """Write graph files of NCCL."""
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.presentation.printing import print_result
    from forestcoll.presentation.results.programs.host_graphs import host_graphs_page

    title = options["source"]
    with TerminalProgress() as progress:
        found = _graphs_of_source(options, progress)
        files = [] if output is None else target.write(found, output)
    err = is_standard_stream(output)
    print_result(host_graphs_page(found, title, files, output), as_json=as_json, err=err)


def _graphs_of_source(options: dict[str, Any], progress: "Progress") -> "list[HostGraph]":
    """Return the graph files of a network, of a schedule, or of a dump of NCCL."""
    from forestcoll.nccl.graph.given import dumped_graph, holds_graphs, scheduled_graphs
    from forestcoll.nccl.graph.hosts import host_graphs

    path = path_of(options["source"])
    if holds_graphs(path):
        given = {name: options[name] for name in ("collective", "method", "without", "degrade")}
        refuse_for_file(given, "a dump of NCCL")
        return [dumped_graph(path)]
    if options["method"] or names_schedule(options["source"]):
        schedule, _ = schedule_of_source(options, progress)
        return scheduled_graphs(schedule)
    progress.begin("reading the topology")
    network = named_network(options["source"], options["without"], options["degrade"])
    progress.begin("searching rings")
    return host_graphs(network, options["collective"] or "allgather")


def _with_options(target: "Target | NcclGraph", options: Mapping[str, Any]) -> "Target | NcclGraph":
    """Return a format with the options of the command line that set one of its own; None is not given."""
    formats = _formats()
    given = {name: value for name, value in options.items() if value is not None}
    stated = click.get_current_context().meta.get(_STATED, {})
    for name, value in given.items():
        if stated.get(name, value) != value:
            raise click.UsageError(f"--to and --{name} give different values of {name}; leave one of them out")
    try:
        formats.require(formats.named(target.name), given, {})
    except InputError as error:
        raise click.UsageError(str(error)) from None
    return replace(target, **given)
