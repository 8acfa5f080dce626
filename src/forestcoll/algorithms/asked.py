"""A demand and a method from options of a command line: which options fit each other follows from their fields."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from forestcoll.algorithms.method import Method, method_of, require_supported
from forestcoll.base.errors import InputError
from forestcoll.base.parameters import Question
from forestcoll.demand.collective import Collective, collective_named
from forestcoll.demand.demand import Demand
from forestcoll.demand.groups.groups import Groups
from forestcoll.demand.groups.layout import Layout
from forestcoll.demand.texts import demand_of, spec_of

_KEYS = {"group_sizes": "sizes", "groups": "members", "layout": "members", "trees": "k", "max_trees": "most"}
"""The keys of demands and methods whose options have another name."""
_KEYS["max_peers"] = "peers"

_OF_METHODS = frozenset({"trees", "max_trees", "max_peers", "compact", "survive"})
_FILES_OF_PIECES = (".json", ".json.gz")


@dataclass(frozen=True)
class AllCollectives(Question):
    """A question about all collectives of a network.

    Attributes:
        ranks: the compute nodes that take part; None for all.
        root: the root of collectives that have one; None for each.
    """

    fits: ClassVar[str] = "--all, which shows every collective; leave it out"
    ranks: str | None = None
    root: str | None = None


def asked(options: Mapping[str, Any]) -> tuple[Demand | Groups, Method | None]:
    """Return the demand and the method that options ask for; None stands for no method, as for groups and for a size.

    Args:
        options: the values of options by their names, such as `max_trees`; None, False and `auto` are not given.

    Raises:
        InputError: two options exclude each other, or do not fit the demand or the method; the message names them.

    Example:
        >>> demand, method = asked({"collective": "broadcast", "root": "0", "trees": 2})
        >>> demand.root, str(method)
        ('0', 'trees:k=2')
    """
    given = {name: value for name, value in options.items() if not _is_absent(value)}
    how = {name: given.pop(name) for name in (*_OF_METHODS, "method") if name in given}
    members, size, failover = given.pop("members", None), given.pop("size", None), given.pop("failover", None)
    if failover is not None and "survive" not in how:
        raise InputError("-o failover=DIR is for trees that survive failures; also give --survive")
    demand = _demand(given)
    if isinstance(demand, Groups):
        if how:
            option = f"--{next(iter(how)).replace('_', '-')}"
            raise InputError(f"{option} is for one collective; leave it out for groups and pieces")
        if size is not None:
            raise InputError("--size is for one collective; leave it out for groups and pieces")
        return demand, None
    if members is not None:
        raise InputError("-o members=DIR is for groups; also give --groups, --layout or pieces")
    is_free = size is not None and not how
    method = _method(how, collective_named(demand.collective))
    require_supported(method, demand, None if is_free else size)
    return demand, None if is_free else method


def _is_absent(value: object) -> bool:
    return value is None or value is False or value == "auto"


def _demand(given: dict[str, Any]) -> Demand | Groups:
    """Return the demand of the options that are given."""
    matrix = given.pop("demand", None)
    is_pieces = matrix is not None and str(matrix).endswith(_FILES_OF_PIECES)
    if matrix is not None:
        given["pieces" if is_pieces else "matrix"] = matrix
    if "groups" in given and "layout" in given:
        raise InputError("--groups and --layout exclude each other; give one of them")
    if "layout" in given:
        Layout.of(given["layout"])  # without "=", the text would be read as groups
    is_groups = is_pieces or "groups" in given or "layout" in given
    if is_pieces and (extra := [name for name in given if name not in {"pieces", "no_relays", "no_in_network"}]):
        raise InputError(f"--{extra[0].replace('_', '-')} does not fit a demand of pieces; leave one of them out")
    name = "groups" if is_groups else given.pop("collective", Collective.ALLGATHER)
    if not is_groups and ("run" in given or "group_sizes" in given):
        option = "--run" if "run" in given else "--group-sizes"
        raise InputError(f"{option} is for groups; also give --layout{'' if 'run' in given else ' or --groups'}")
    whole, _, text = str(name).partition(":")
    spec = spec_of(whole)
    values: dict[str, Any] = spec.values(text) if text else {}
    known = [parameter.name for parameter in spec.parameters]
    for option, value in given.items():
        negated = option.startswith("no_")
        key = option.removeprefix("no_") if negated else _KEYS.get(option, option)
        if key not in known:
            named = "--demand" if option == "matrix" else f"--{option.replace('_', '-')}"
            who = "groups have" if is_groups else f"{collective_named(whole).with_article} has"
            raise InputError(f"{who} no {named.removeprefix('--')}; leave {named} out")
        values[key] = False if negated else value
    made: Demand | Groups = demand_of(spec.make(**values))
    return made


def _method(how: dict[str, Any], collective: Collective) -> Method:
    method = how.pop("method", None)
    if "survive" in how:
        if method is not None:
            raise InputError(f"--survive is the method surviving; leave --method {method} out")
        method = f"surviving:failure={how.pop('survive')}"
    if "trees" in how and "max_trees" in how:
        raise InputError("--trees and --max-trees exclude each other; give one of them")
    return method_of(method, collective, {_KEYS.get(name, name): value for name, value in how.items()})
