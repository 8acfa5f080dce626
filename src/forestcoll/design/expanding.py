"""Expansions of a network of the user, one after the other, by name."""

from collections.abc import Callable, Iterable
from fractions import Fraction

from forestcoll.base.errors import InputError, listed, shown
from forestcoll.design.constructions import Construction, Expansion
from forestcoll.design.expansions.bidirectional import Bidirectional
from forestcoll.design.expansions.breadth_first import BreadthFirst
from forestcoll.design.expansions.cartesian_power import CartesianPower
from forestcoll.design.expansions.cartesian_product import CartesianProduct
from forestcoll.design.expansions.degree_expansion import DegreeExpansion
from forestcoll.design.expansions.line_graph import LineGraph
from forestcoll.design.expansions.parallel import Parallel
from forestcoll.design.given import BaseLike, Given, base_network
from forestcoll.design.search.finder import MAX_NODES, MAX_PORTS

_MOST_TIMES = 16
"""The maximum number of line graphs after each other."""


def expand(base: BaseLike, by: str | Iterable[str]) -> Construction:
    """Expand a network, and its allgather with it (§5 of the direct-connect paper).

    Args:
        base: the network, as for `base_network`.
        by: an expansion, or several in order: `line-graph` or `line-graph=K` (K times), `degree=N` (N copies of each
            node), `power=N` (Cartesian power), `product=BASE` (Cartesian product with another network), `parallel=N` (N
            parallel links instead of each link), `bidirectional` (a twin for each link of a one-way network),
            `breadth-first` (the best breadth-first schedule instead of the expanded one).

    Returns:
        The expanded network. `topology_of` and `schedule_of` make the network and its verified schedule.

    Raises:
        InputError: an expansion is unknown or not possible, or the result is too large.

    Example:
        >>> network = expand("torus:dims=3x3", ["line-graph", "degree=2"])
        >>> network.name, network.nodes, network.degree, network.cost.steps
        ('L([torus:dims=3x3])*2', 72, 8, 4)
    """
    network = base_network(base)
    for expansion in listed([by] if isinstance(by, str) else by, str, "by", f"one of {_known()}"):
        network = _expanded(network, expansion)
    return network


def bandwidth_of(network: Construction) -> Fraction:
    """Return the bandwidth of an arc of a network: that of the network of the user of which it is made, or 1."""
    if isinstance(network, Given):
        return network.bandwidth
    if isinstance(network, CartesianProduct):
        return bandwidth_of(network.factors[0])
    return bandwidth_of(network.base) if isinstance(network, Expansion) else Fraction(1)


def _expanded(network: Construction, text: str) -> Construction:
    name, given, value = text.partition("=")
    make = _EXPANSIONS.get(name)
    if make is None:
        raise InputError(f"expansion {shown(text)} is unknown; expected {_known()}")
    if name in _WITHOUT_VALUE and given:
        raise InputError(f"expansion {shown(text)}: {name} has no value; leave out what follows {shown(name)}")
    return make(network, value)


def _known() -> str:
    return ", ".join(map(_form, _EXPANSIONS))


def _form(name: str) -> str:
    """Return how an expansion is written."""
    return name if name in _WITHOUT_VALUE else f"{name}={'BASE' if name == 'product' else 'N'}"


def _line_graph(network: Construction, value: str) -> Construction:
    for _ in range(_count("line-graph", value or "1", least=1, most=_MOST_TIMES)):
        if not network.branches:
            raise InputError(f"{network.name}: a line graph needs links from each node to two or more nodes")
        _check_size(network, network.nodes * network.degree, network.degree)
        network = LineGraph.of(network)
    return network


def _degree(network: Construction, value: str) -> Construction:
    copies = _count("degree", value)
    if network.has_loops:
        raise InputError(f"{network.name}: a degree expansion needs a network without links from a node to itself")
    _check_size(network, network.nodes * copies, network.degree * copies)
    return DegreeExpansion.of(network, copies)


def _power(network: Construction, value: str) -> Construction:
    exponent = _count("power", value, most=MAX_PORTS)
    _check_size(network, network.nodes**exponent, network.degree * exponent)
    return CartesianPower.of(network, exponent)


def _product(network: Construction, value: str) -> Construction:
    if not value:
        raise InputError("expansion product has no network; expected product=BASE, as in product=ring:nodes=4")
    other = base_network(value)
    mine, its = bandwidth_of(network), bandwidth_of(other)
    if mine != its:
        raise InputError(
            f"{network.name}: the bandwidth of a link is {mine}, that of {other.name} is {its}; "
            "a product needs factors with equal links"
        )
    _check_size(network, network.nodes * other.nodes, network.degree + other.degree)
    return CartesianProduct.counted((network, other))


def _parallel(network: Construction, value: str) -> Construction:
    copies = _count("parallel", value)
    _check_size(network, network.nodes, network.degree * copies)
    return Parallel.of(network, copies)


def _bidirectional(network: Construction, _: str) -> Construction:
    if network.mirror() is None:
        raise InputError(f"{network.name}: no isomorphism to the reversed network is known, which bidirectional needs")
    _check_size(network, network.nodes, 2 * network.degree)
    return Bidirectional.of(network)


def _breadth_first(network: Construction, _: str) -> Construction:
    return network if network.is_breadth_first else BreadthFirst.of(network)


_EXPANSIONS: dict[str, Callable[[Construction, str], Construction]] = {
    "line-graph": _line_graph,
    "degree": _degree,
    "power": _power,
    "product": _product,
    "parallel": _parallel,
    "bidirectional": _bidirectional,
    "breadth-first": _breadth_first,
}
_WITHOUT_VALUE = {"bidirectional", "breadth-first"}


def _count(name: str, value: str, *, least: int = 2, most: int = MAX_NODES) -> int:
    if value.isascii() and value.isdigit() and len(value) < 10 and least <= int(value) <= most:
        return int(value)
    raise InputError(f"expansion {name}: the number is {shown(value)}; expected an integer from {least} to {most}")


def _check_size(network: Construction, nodes: int, degree: int) -> None:
    if nodes > MAX_NODES or degree > MAX_PORTS:
        raise InputError(
            f"{network.name}: the expanded network has {nodes} nodes of degree {degree}; expected at most "
            f"{MAX_NODES} nodes and a degree of at most {MAX_PORTS}"
        )
