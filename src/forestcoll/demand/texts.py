"""Demands as texts, `NAME:key=value,key=value`, and as values: what functions accept as a demand."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

from forestcoll.base.errors import InputError, shown
from forestcoll.base.parameters import Flag, Kind, Parameter, Text
from forestcoll.base.registry import Spec
from forestcoll.demand.collective import Collective, collective_named
from forestcoll.demand.demand import Demand, NodeDemand
from forestcoll.demand.groups.groups import Groups
from forestcoll.topology import Topology, TopologyLike
from forestcoll.topology.registry import load_topology

DemandLike: TypeAlias = str | Collective | Demand | Groups
"""A demand: a collective, a text such as `broadcast:root=b0/gpu0` or `groups:members='0,8;1,9'`, or a value."""

_RANKS = Text("ranks, such as '0-7,16-23' in quotes")
_KEYS: Mapping[str, tuple[Kind, str]] = {
    "ranks": (_RANKS, "the compute nodes that take part, by position from 0 or id; the others are idle"),
    "root": (Text("the id of a compute node, or its position"), "the root, by id or position"),
    "shards": (Text("the name of a file"), "a JSON file with the part of the data of each node"),
    "matrix": (Text("the name of a file"), "a CSV file with what each node sends to each other one"),
    "members": (Text("groups, such as '0,8;1,9', or a layout, such as 'tp=8,dp=4'"), "the groups, a layout or a file"),
    "collective": (Text("the name of a collective"), "the collective of the groups"),
    "sizes": (Text("numbers, such as '1,1/2'"), "the size of each group"),
    "run": (Text("dimensions, such as dp"), "the dimensions of a layout whose groups run"),
    "pieces": (Text("the name of a file"), "a JSON file of pieces of data, instead of groups"),
    "relays": (Flag(), "whether nodes that take no part may relay data"),
    "in_network": (Flag(), "whether switches copy and add up data if they can"),
}
_DEFAULTS = {"relays": True, "in_network": True}


def demand_of(demand: object) -> Demand | Groups:
    """Return a demand that is given as a text, a collective or a value.

    Raises:
        InputError: it is none of them, there is no such collective or key, or a value is not valid.

    Example:
        >>> demand_of("broadcast:root=b0/gpu0").root, demand_of("groups:members='0,8;1,9'").members
        ('b0/gpu0', '0,8;1,9')
    """
    if isinstance(demand, Collective):
        return Demand(demand)
    if isinstance(demand, Demand | Groups):
        return demand
    if isinstance(demand, str):
        head, colon, rest = demand.partition(":")
        spec = spec_of(head)
        made: Demand | Groups = spec.read(rest) if colon else spec.make()
        return made
    kinds = "the name of a collective, a text such as broadcast:root=0, a Demand or Groups"
    raise InputError(f"demand is {shown(demand)}; expected {kinds}")


def bound_on(topology: TopologyLike, demand: DemandLike) -> tuple[Topology, NodeDemand]:
    """Return the network as one collective may use it, and the collective in its node numbers, after all checks.

    Raises:
        InputError: the network or the demand is not valid, or there are groups, which are several collectives.
    """
    wanted = demand_of(demand)
    if isinstance(wanted, Groups):
        raise InputError("groups are several collectives; give one")
    return wanted.bind(load_topology(topology, connected=wanted.needs_all))


def spec_of(name: str) -> Spec:
    """Return how the demand called `name` is written.

    Raises:
        InputError: there is no such collective.
    """
    if name == "groups":
        return _spec(name, Groups, "members", "collective", "sizes", "run", "pieces")
    kind = collective_named(name)
    keys = {"root": kind.has_root, "shards": kind.has_shards, "matrix": kind.is_personalised}
    return _spec(kind.value, partial(Demand, kind), "ranks", *(key for key, has in keys.items() if has))


def specs() -> tuple[Spec, ...]:
    """Return how each demand is written: the collectives, and groups."""
    return tuple(map(spec_of, (*(each.value for each in Collective), "groups")))


def _spec(name: str, make: Callable[..., Any], *keys: str) -> Spec:
    listed = (*keys, *_DEFAULTS)
    parameters = (Parameter(key, _KEYS[key][0], _DEFAULTS.get(key), "", _KEYS[key][1], is_size=False) for key in listed)
    return Spec(name, make, tuple(parameters), __name__)
