"""The arguments and options that several commands share, each written once."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from forestcoll.cli.types import CollectiveName, FileName, Ranks, TopologySpec, TreeCount
from forestcoll.collective import SCHEDULED, Collective, ShardsByNode, shards_of

if TYPE_CHECKING:
    from forestcoll.optima.value import Optimum
    from forestcoll.presentation.parts import RelayGain
    from forestcoll.progress import Progress
    from forestcoll.solver.search import Solution
    from forestcoll.topology import Topology

Command = TypeVar("Command", bound=Callable[..., Any])

SEPARATOR = "--"
"""What stands between the ids of the two ends of a link."""

_LINK_OPTIONS = ("--without", "--degrade")


topology_argument = click.argument("topology", metavar="TOPOLOGY", type=TopologySpec())
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
file_argument = click.argument("file", metavar="FILE", type=FileName())
ports_option = click.option(
    "--ports",
    type=click.Choice(["one", "all"]),
    help="Whether a compute node uses one link at a time each way, or all of them.  [default: as TOPOLOGY says]",
)
output_option = click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=FileName(),
    help="The file to write: gzip if it ends in .gz; - is standard output, and then the report goes to standard error.",
)


ranks_option = click.option(
    "--ranks",
    type=Ranks(),
    metavar="RANKS",
    help="The compute nodes that take part, by position from 0 (0-7,16-23) or id (gpu0,gpu3); the others may relay.",
)


class LinksCommand(click.Command):
    """A command whose `change_options` take several links after one option, as in `--without A--B C--D`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat the option before each further link."""
        return super().parse_args(ctx, list(_one_by_one(args)))


def _one_by_one(args: Iterable[str]) -> Iterator[str]:
    """Yield the arguments, with the option repeated: a further link is a word with `--` inside, as no option is."""
    option, given = None, False
    for word in args:
        is_link = SEPARATOR in word[1:] and not word.startswith("-")
        if option is not None and given and is_link:
            yield option
        elif word in _LINK_OPTIONS:
            option, given = word, False
            yield word
            continue
        elif option is not None and given:
            option = None
        given = option is not None
        yield word


def change_options(command: Command) -> Command:
    """Add the options that change links of the network; the command must be a `LinksCommand`."""
    degrade = click.option(
        "--degrade",
        metavar="A--B=BANDWIDTH…",
        multiple=True,
        help="Links that have another bandwidth, in both directions.",
    )
    without = click.option(
        "--without",
        metavar="A--B…",
        multiple=True,
        help="Links that have failed, in both directions, each by the ids of its ends.",
    )
    return without(degrade(command))


def jobs_option(description: str) -> Callable[[Command], Command]:
    """Return the option that says how many processes work."""
    return click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help=description)


def dialect_option(description: str) -> Callable[[Command], Command]:
    """Return the option that names a runtime which loads MSCCL's XML."""
    return click.option("--dialect", type=click.Choice(["microsoft", "azure", "rccl"]), help=description)


def path_option(name: str, description: str) -> Callable[[Command], Command]:
    """Return an option that names one more file to write."""
    return click.option(name, metavar="FILE", type=FileName(), help=description)


def collective_options(command: Command) -> Command:
    """Add the options that say what is asked of the network."""
    for option in (
        click.option(
            "--max-trees",
            type=TreeCount(),
            metavar="K",
            help="The best number of trees per root from 1 to K.",
        ),
        click.option(
            "--trees",
            type=TreeCount(),
            metavar="K",
            help="Exactly K trees per root.",
        ),
        click.option(
            "--shards",
            type=FileName(),
            metavar="FILE",
            help='For allgather and reduce-scatter: a JSON file {"ID": "RATIONAL", ...} with the share of each node.',
        ),
        click.option(
            "--in-network/--no-in-network",
            default=True,
            show_default=True,
            help="Whether switches copy data and add it up where TOPOLOGY says that they can.",
        ),
        click.option(
            "--root",
            metavar="ID",
            help="For broadcast and reduce: the node that data comes from or goes to, by its id or position.",
        ),
        click.option(
            "--no-relays",
            "relays",
            flag_value=False,
            default=True,
            help="With --ranks: send nothing through compute nodes that take no part.",
        ),
        ranks_option,
        click.option(
            "--collective",
            type=CollectiveName([each.value for each in SCHEDULED]),
            metavar="NAME",
            default=Collective.ALLGATHER.value,
            show_default=True,
            help=f"The operation: {', '.join(each.value for each in SCHEDULED)}.",
        ),
    ):
        command = option(command)
    return command


def with_ports(network: "Topology", ports: str | None) -> "Topology":
    """Return the network with the ports that `ports_option` asks for."""
    return network if ports is None else replace(network, port_model="one-port" if ports == "one" else None)


@dataclass(frozen=True)
class Asked:
    """What `collective_options` say is asked of the network.

    Attributes:
        collective: the name of the operation.
        ranks: the ranks that take part, as they were typed: positions or ids.
        relays: whether others may serve as relays.
        root: its root, as it was typed: an id or a position.
        shards: the file that says what part of the data each node has.
        trees: how many trees per root, exactly.
        max_trees: how many trees per root at most.
        in_network: whether switches copy and add up where they can.
        without: the links that have failed, as they were typed.
        degrade: the links with another bandwidth, as they were typed.
    """

    collective: str
    ranks: str | None
    relays: bool
    root: str | None
    shards: Path | None
    trees: int | None
    max_trees: int | None
    in_network: bool
    without: tuple[str, ...] = ()
    degrade: tuple[str, ...] = ()

    def check(self) -> None:
        """Refuse options that do not go together, as wrong usage."""
        collective = Collective(self.collective)
        named = collective.with_article
        if self.root is not None and not collective.has_root:
            raise click.UsageError(f"{named} has no root; leave --root out")
        if self.root is None and collective.has_root:
            raise click.UsageError(f"{named} needs a root; give --root ID, the id of a compute node")
        if self.shards is not None and not collective.has_shards:
            raise click.UsageError(f"{named} has no shards of different sizes; leave --shards out")
        if not self.relays and self.ranks is None:
            raise click.UsageError("--no-relays is about compute nodes that take no part; give --ranks too")
        if self.trees is not None and self.max_trees is not None:
            raise click.UsageError("--trees and --max-trees exclude each other; give one of them")

    def network(self, topology: str) -> "Topology":
        """Return the network that is asked about, with the changes; only ranks must reach each other."""
        from forestcoll.topology.changes import changed_network
        from forestcoll.topology.registry import load_topology

        network = load_topology(topology, connected=self.ranks is None)
        return changed_network(network, self.without, self.degrade)

    def without_relays(self, best: "Optimum", progress: "Progress") -> "RelayGain | None":
        """Return what idle nodes gain as relays, None if there are none."""
        if not self.relays or len(best.members) == len(best.topology.compute):
            return None
        from forestcoll.presentation.parts import RelayGain
        from forestcoll.solver.optimum import optimum_without_relays

        without = optimum_without_relays(best, trees=self.trees, max_trees=self.max_trees, progress=progress)
        return RelayGain.of(best, without)

    def solve(self, network: "Topology", progress: "Progress") -> "Solution":
        """Return the optimum that is asked for, and with `--max-trees` those of all numbers of trees."""
        from forestcoll.ranks import without_relays
        from forestcoll.request import Request
        from forestcoll.solver.optimum import solve

        if not self.in_network:
            network = network.without_abilities()
        if not self.relays:
            network = without_relays(network, self.ranks or ())
        request = Request(Collective(self.collective), self.ranks, self.root, self._shards(network))
        return solve(network, request, trees=self.trees, max_trees=self.max_trees, progress=progress)

    def _shards(self, network: "Topology") -> "ShardsByNode | None":
        """Return what the file of shards holds; a mistake in it is named with the file."""
        if self.shards is None:
            return None
        from forestcoll.files import read_document
        from forestcoll.ranks import ranks_of

        values = read_document(self.shards)
        shards_of(network, values, ranks=ranks_of(network, self.ranks), where=str(self.shards))
        return values
