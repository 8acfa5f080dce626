"""The arguments and options that several commands share, each written once."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from forestcoll.collective import SCHEDULED, Collective, ShardsByNode, collective_named, shards_of
from forestcoll.errors import InputError, shown

if TYPE_CHECKING:
    from forestcoll.optima.value import Optimum
    from forestcoll.presentation.parts import RelayGain
    from forestcoll.progress import Progress
    from forestcoll.solver.search import Solution
    from forestcoll.topology import Topology

Command = TypeVar("Command", bound=Callable[..., Any])


def _path(_context: click.Context, parameter: click.Parameter, text: str | None) -> Path | None:
    """Return the path that `text` names; `-` is the standard stream, `./-` a file."""
    if text is None:
        return None
    if not text:
        raise click.BadParameter(
            "give -o a file's name" if isinstance(parameter, click.Option) else "name a file", param=parameter
        )
    from forestcoll.files import path_of

    return path_of(text)


def _tree_count(_context: click.Context, parameter: click.Parameter, text: str | None) -> int | None:
    """Return the integer that `text` writes."""
    if text is None:
        return None
    from forestcoll.exact import MAX_TREES_DIGITS

    digits = text.removeprefix("+").lstrip("0")
    if not (digits.isascii() and digits.isdecimal()):
        raise click.BadParameter(f"{shown(text)}; expected an integer of 1 or more", param=parameter)
    if len(digits) > MAX_TREES_DIGITS:
        raise click.BadParameter(f"{shown(text)} has more than {MAX_TREES_DIGITS} digits", param=parameter)
    return int(digits)


def size_of(_context: click.Context, parameter: click.Parameter, text: str | None) -> int | None:
    """Return the bytes that `text` says."""
    if text is None:
        return None
    from forestcoll.errors import InputError
    from forestcoll.units import data_size

    try:
        return data_size(text)
    except InputError as error:
        raise click.BadParameter(str(error), param=parameter) from None


topology_argument = click.argument("topology", metavar="TOPOLOGY")
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
file_argument = click.argument("file", metavar="FILE", callback=_path)
ports_option = click.option(
    "--ports",
    type=click.Choice(["one", "all"]),
    help="Let compute nodes use one link at a time each way, or all at once; as TOPOLOGY says if left out.",
)
output_option = click.option(
    "-o",
    "--output",
    metavar="FILE",
    callback=_path,
    help="The file to write; gzip if it ends in .gz; - is standard output, and the report goes to standard error.",
)


def _ranks(_context: click.Context, parameter: click.Parameter, text: str | None) -> str | None:
    """Return a text that may name ranks; whether they are there is seen when the network is known."""
    if text is None:
        return None
    from forestcoll.ranks import rank_parts

    try:
        rank_parts(text)
    except InputError as error:
        raise click.BadParameter(str(error), param=parameter) from None
    return text


ranks_option = click.option(
    "--ranks",
    callback=_ranks,
    metavar="RANKS",
    help="The compute nodes that take part, by position from 0 (0-7,16-23) or id (gpu0,gpu3); the others may relay.",
)


def path_option(name: str, description: str) -> Callable[[Command], Command]:
    """Return an option that names a file to write besides."""
    return click.option(name, metavar="FILE", callback=_path, help=description)


class _CollectiveName(click.Choice[str]):
    """The name of a collective, in any of the usual spellings."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name that files have for it, if it is one of the choices."""
        try:
            name = collective_named(value).value
        except InputError as error:
            self.fail(str(error), param, ctx)
        return super().convert(name, param, ctx)


def collective_options(command: Command) -> Command:
    """Add the options that say what is asked of the network."""
    for option in (
        click.option(
            "--max-trees",
            callback=_tree_count,
            metavar="K",
            help="The best of 1 to K trees per root.",
        ),
        click.option(
            "--trees",
            callback=_tree_count,
            metavar="K",
            help="Exactly K trees per root.",
        ),
        click.option(
            "--shards",
            callback=_path,
            metavar="FILE",
            help='Of an allgather or a reduce-scatter: a JSON object {"ID": "RATIONAL", ...} with each node\'s part.',
        ),
        click.option(
            "--in-network/--no-in-network",
            default=True,
            show_default=True,
            help="Whether switches copy and add up where the network says that they can.",
        ),
        click.option(
            "--root",
            metavar="ID",
            help="Of a broadcast or a reduce: the node that data comes from or goes to, by its id or position.",
        ),
        click.option(
            "--no-relays",
            "relays",
            flag_value=False,
            default=True,
            help="With --ranks: send nothing over compute nodes that take no part.",
        ),
        ranks_option,
        click.option(
            "--collective",
            type=_CollectiveName([each.value for each in SCHEDULED]),
            default=Collective.ALLGATHER.value,
            show_default=True,
            help="The operation; also as all_gather or AllGather.",
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
    """

    collective: str
    ranks: str | None
    relays: bool
    root: str | None
    shards: Path | None
    trees: int | None
    max_trees: int | None
    in_network: bool

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
        """Return the network that is asked about; only ranks must reach each other."""
        from forestcoll.topology.registry import load_topology

        return load_topology(topology, connected=self.ranks is None)

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
