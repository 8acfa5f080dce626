"""The options for groups that run at the same time, and what `optimum` and `generate` do with them.

A demand of pieces of data is a list of such groups, too.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from forestcoll.base.files import is_standard_stream
from forestcoll.cli.types import FileOrText, OutputFolder

if TYPE_CHECKING:
    from forestcoll.base.progress import Progress
    from forestcoll.demand.groups.value import Group
    from forestcoll.solver.groups.gains import GroupGains
    from forestcoll.solver.groups.value import GroupsOptimum
    from forestcoll.topology import Topology

Command = TypeVar("Command", bound=Callable[..., Any])

_EXCLUDED = ("ranks", "root", "shards", "demand", "trees", "max_trees", "max_peers")
"""The options of collectives that groups do not have."""


def is_file_of_pieces(demand: Path | None) -> bool:
    """Return whether a demand is a JSON file, which has pieces; a CSV file has a demand matrix."""
    return demand is not None and demand.name.endswith((".json", ".json.gz"))


def group_options(command: Command) -> Command:
    """Add the options for groups that run at the same time."""
    for option in (
        click.option(
            "--run",
            metavar="NAMES",
            help="With --layout: the dimensions whose groups run at the same time, such as dp or tp,dp.  [default: the "
            "last one]",
        ),
        click.option(
            "--layout",
            metavar="LAYOUT",
            help="Groups by dimension, the fastest first, such as tp=8,dp=4. The dimensions are tp, dp, ep, pp and cp "
            "(tensor, data, expert, pipeline and context parallel).",
        ),
        click.option(
            "--group-sizes",
            metavar="SIZES",
            help="The size M of each group relative to the others, such as 1,1/2; with --layout, of each dimension in "
            "--run.  [default: 1 each]",
        ),
        click.option(
            "--groups",
            type=FileOrText(),
            metavar="GROUPS",
            help='Groups that run the collective at the same time: ranks as in --ranks, such as "0,8;1,9"; or a JSON '
            "file, in which each group may have its own collective.",
        ),
    ):
        command = option(command)
    return command


table_option = click.option(
    "--table",
    is_flag=True,
    help="With --layout: print a table of all dimensions, of the links that limit them, and of other orders.",
)
members_option = click.option(
    "--members",
    metavar="DIR",
    type=OutputFolder(r"group-\d+\.json"),
    help="For groups and pieces: also write the schedule of each group to a file group-N.json in this directory.",
)


@dataclass(frozen=True)
class GroupOptions:
    """The values of `group_options`, and the file of pieces of data.

    Attributes:
        groups: the groups or the name of a file, as text; None if not given.
        sizes: the sizes, as text; None if not given.
        layout: the layout, as text; None if not given.
        run: the dimensions that run, as text; None if not given.
        pieces: the file of pieces, if `--demand` names one; None if not.
    """

    groups: str | None
    sizes: str | None
    layout: str | None
    run: str | None
    pieces: Path | None

    @staticmethod
    def taken_from(options: dict[str, Any]) -> "GroupOptions":
        """Return the values of `group_options` and the file of pieces, and remove them from `options`."""
        pieces = options["demand"] if is_file_of_pieces(options["demand"]) else None
        if pieces is not None:
            options["demand"] = None
        groups, sizes, layout, run = (options.pop(name) for name in ("groups", "group_sizes", "layout", "run"))
        return GroupOptions(groups, sizes, layout, run, pieces)

    @property
    def are_given(self) -> bool:
        """Whether groups or pieces are given."""
        return self.groups is not None or self.layout is not None or self.pieces is not None

    def check(self, options: dict[str, Any], *, table: bool = False) -> None:
        """Check that the options can be combined; `options` has the values of `collective_options`.

        Raises:
            click.UsageError: they cannot.
        """
        if self.groups is not None and self.layout is not None:
            raise click.UsageError("--groups and --layout cannot be combined; give one of them")
        if self.pieces is not None:
            self._check_pieces()
        if self.run is not None and self.layout is None:
            raise click.UsageError("--run names dimensions of a layout; also give --layout")
        if table and self.layout is None:
            raise click.UsageError("--table is about a layout; also give --layout")
        if table and (self.run is not None or self.sizes is not None):
            raise click.UsageError("--table lists all dimensions; leave --run and --group-sizes out")
        if not self.are_given and self.sizes is not None:
            raise click.UsageError("--group-sizes needs groups; also give --groups or --layout")
        if not self.are_given:
            return
        for name in _EXCLUDED:
            if options[name] is not None:
                named = f"--{name.replace('_', '-')}"
                where = "a demand of pieces" if self.pieces is not None else "--groups and --layout"
                raise click.UsageError(f"{named} is for one collective; leave it out with {where}")

    def _check_pieces(self) -> None:
        """Check that no option is given that pieces do not have."""
        source = click.get_current_context().get_parameter_source("collective")
        given = {"--groups": self.groups is not None, "--layout": self.layout is not None, "--group-sizes": self.sizes}
        for name, is_given in (*given.items(), ("--collective", source is ParameterSource.COMMANDLINE)):
            if is_given:
                raise click.UsageError(f"{name} cannot be combined with a demand of pieces; leave one of them out")

    def network(self, topology: str, options: dict[str, Any]) -> "Topology":
        """Return the network with its changes. Only the nodes of each group must reach each other."""
        from forestcoll.cli.options import named_network

        network = named_network(topology, options["without"], options["degrade"], connected=False)
        return network if options["in_network"] else network.without_abilities()

    def listed(self, network: "Topology", collective: str) -> "tuple[Group, ...]":
        """Return the groups."""
        from forestcoll.demand.groups.layout import Layout
        from forestcoll.demand.groups.pieces import groups_of_pieces, read_pieces
        from forestcoll.demand.groups.reading import read_groups
        from forestcoll.demand.groups.value import groups_of

        if self.pieces is not None:
            return groups_of_pieces(network, read_pieces(self.pieces), where=f"{self.pieces}: ")
        if self.layout is None:
            text = self.groups or ""
            if text.strip().endswith((".json", ".json.gz")):
                return groups_of(network, read_groups(text.strip(), network, collective), sizes=self.sizes)
            return groups_of(network, text, collective, self.sizes)
        layout = Layout.of(self.layout)
        layout.check(network)
        of_names = [layout.groups(name) for name in layout.running(self.run)]
        groups = [group for each in of_names for group in each]
        return groups_of(network, groups, collective, self._sizes([len(each) for each in of_names]))

    def _sizes(self, counts: list[int]) -> list[str] | None:
        """Return the size of each group, from the size of each dimension and its number of groups."""
        from forestcoll.base.errors import InputError

        if self.sizes is None:
            return None
        sizes = self.sizes.split(",")
        if len(sizes) != len(counts):
            raise InputError(
                f"there are {len(sizes)} sizes and {len(counts)} dimensions that run; give one size for each dimension"
            )
        return [size for size, count in zip(sizes, counts, strict=True) for _ in range(count)]

    def solve(
        self, topology: str, options: dict[str, Any], progress: "Progress"
    ) -> "tuple[GroupsOptimum, GroupGains | None]":
        """Return the optimum of the groups, and what each would have alone; not for pieces, as there may be many."""
        from forestcoll.solver.forests.scaling import require_all_ports
        from forestcoll.solver.groups.gains import group_gains
        from forestcoll.solver.groups.search import group_search

        progress.begin("reading the topology")
        network = self.network(topology, options)
        require_all_ports(network)
        listed = self.listed(network, options["collective"])
        best = group_search(network, listed, progress, relays=options["relays"])
        return best, None if self.pieces is not None else group_gains(best, progress)


def report_optimum(topology: str, groups: GroupOptions, options: dict[str, Any], *, as_json: bool) -> None:
    """Print the optimum of groups."""
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.presentation.printing import print_json, print_page
    from forestcoll.presentation.results.schedules.groups import optimum_document, optimum_page

    with TerminalProgress() as progress:
        best, gains = groups.solve(topology, options, progress)
    if as_json:
        print_json(optimum_document(best, gains))
    else:
        print_page(optimum_page(best, gains))


def report_table(topology: str, groups: GroupOptions, options: dict[str, Any], *, as_json: bool) -> None:
    """Print the table of a layout."""
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.presentation.printing import print_json, print_page
    from forestcoll.presentation.results.schedules.groups import table_document, table_page
    from forestcoll.solver.groups.layouts import layout_table

    with TerminalProgress() as progress:
        network = groups.network(topology, options)
        table = layout_table(network, groups.layout or "", options["collective"], progress=progress)
    if as_json:
        print_json(table_document(table))
    else:
        print_page(table_page(table))


@dataclass(frozen=True)
class BundleOutput:
    """Where and how `generate` reports a bundle.

    Attributes:
        output: the file of the bundle; None if none.
        members: the directory for the schedules of the groups; None if none.
        as_json: whether to print JSON.
        verbose: whether to print counters, too.
    """

    output: Path | None
    members: Path | None
    as_json: bool
    verbose: bool


def generate_and_report(topology: str, groups: GroupOptions, options: dict[str, Any], to: BundleOutput) -> None:
    """Generate a bundle, verify it, write it, and print the report."""
    from forestcoll.base.together import written_together
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.presentation.printing import print_json, print_page
    from forestcoll.presentation.results.schedules.groups import generated_document, generated_page
    from forestcoll.presentation.results.schedules.optimum import run_document, run_rows
    from forestcoll.schedule.bundle.files import write_members
    from forestcoll.schedule.files import write_schedule
    from forestcoll.solver.groups.bundling import bundle_for
    from forestcoll.verification import certified, verify

    with TerminalProgress() as progress:
        best, gains = groups.solve(topology, options, progress)
        bundle = bundle_for(best)
        progress.begin("verifying")
        certified(verify(bundle))
        progress.begin("writing")
        with written_together():
            if to.members is not None:
                write_members(bundle, to.members)
            if to.output is not None:
                write_schedule(bundle, to.output)
    seconds, counters, err = progress.seconds, progress.counters, is_standard_stream(to.output)
    if to.as_json:
        print_json(generated_document(best, gains, bundle, run_document(to.output, seconds, counters)), err=err)
    else:
        rows = run_rows(to.output, seconds, counters, verbose=to.verbose)
        print_page(generated_page(best, gains, bundle, rows), err=err)
