"""Rules about the symmetry of a schedule. Each returns the message of the first wrong place, or None.

Together the rules say that the shifts generate a group of symmetries of the network. The group has as many elements as
the product of the orders. The image of a tree under an element is a tree of the same form. So if the rules about routes
and trees hold for base trees, they hold for all trees.

In a schedule of flows, only the identity maps a compute node to itself. In a schedule of trees, elements may leave
compute nodes in place, but not all: a compute node has as many images as the group has elements.

It is enough to look at one node of each orbit: if the elements commute and two elements map a node to the same node,
they map each node of its orbit to the same node.
"""

from itertools import combinations

import numpy as np

from forestcoll.base.errors import times
from forestcoll.schedule.rows import IntArray
from forestcoll.verification.first_wrong import first_true
from forestcoll.verification.permutations import power
from forestcoll.verification.routes import wording
from forestcoll.verification.routes.context import RouteContext


def order_wrong(context: RouteContext) -> str | None:
    """Find a shift of order less than 2, or a group with more elements than compute nodes."""
    for place, order in enumerate(context.group.orders):
        if order < 2:
            return f"shift {place} has order {order}; expected 2 or more"
    if context.group.order <= len(context.compute):
        return None
    orders = wording.listed(context.group.orders)
    members = f"{len(context.compute)} {wording.members(context)}"
    return f"the orders of the shifts, {orders}, multiply to more than the {members}"


def image_wrong(context: RouteContext) -> str | None:
    """Find a shift that is not a permutation of the nodes."""
    size = context.network.size
    for place, shift in enumerate(context.group.shifts):
        if len(shift) != size:
            return f"shift {place} has the images of {len(shift)} nodes; expected one for each of {size}"
        if (node := first_true((shift < 0) | (shift >= size))) is not None:
            sent = f"{wording.node(context, node)} to node number {shift[node]}"
            return f"shift {place} sends {sent}; expected 0 to {size - 1}"
        if (again := _first_repeated(shift)) is not None:
            first, second = (wording.node(context, node) for node in again)
            both = wording.node(context, int(shift[again[0]]))
            return f"shift {place} sends {first} and {second} both to {both}; expected a node for each"
    return None


def _first_repeated(shift: IntArray) -> tuple[int, int] | None:
    """Return the first two nodes that have the same image, or None."""
    _, firsts = np.unique(shift, return_index=True)
    is_again = np.ones(len(shift), dtype=np.bool_)
    is_again[firsts] = False
    second = first_true(is_again)
    return None if second is None else (int((shift == shift[second]).argmax()), second)


def kind_wrong(context: RouteContext) -> str | None:
    """Find a node that is mapped to a node of another kind."""
    network = context.network
    takes_part = np.zeros(network.size, dtype=np.bool_)
    takes_part[list(context.compute)] = True
    for place, shift in enumerate(context.group.shifts):
        differs = np.zeros(network.size, dtype=np.bool_)
        for mark in (network.is_compute, takes_part, network.can_multicast, network.can_aggregate):
            differs |= mark != mark[shift]
        if (node := first_true(differs)) is not None:
            sent = f"{wording.kind(context, node)} to {wording.kind(context, int(shift[node]))}"
            return f"shift {place} sends {sent}; expected a node of the same kind"
    return None


def link_wrong(context: RouteContext) -> str | None:
    """Find a link that is not mapped to a link of the same bandwidth."""
    links = context.topology.links
    _, class_of = context.network.bandwidths
    for place, (shift, images) in enumerate(zip(context.group.shifts, context.group.link_images, strict=True)):
        number = first_true((images < 0) | (class_of != class_of[images]))
        if number is None:
            continue
        link, image = links[number], int(images[number])
        ends = f"{wording.node(context, link.source)} -> {wording.node(context, link.target)}"
        sent = " -> ".join(wording.node(context, int(shift[end])) for end in (link.source, link.target))
        if image < 0:
            return f"shift {place} sends link {ends} to {sent}, but the topology has no such link"
        found = f"{sent} of bandwidth {wording.number(links[image].bandwidth)}"
        return (
            f"shift {place} sends link {ends} of bandwidth {wording.number(link.bandwidth)} to {found}; expected equal"
        )
    return None


def return_wrong(context: RouteContext) -> str | None:
    """Find a shift whose power by its order is not the identity."""
    for place, (shift, order) in enumerate(zip(context.group.shifts, context.group.orders, strict=True)):
        end = power(shift, order)
        if (node := first_true(end != np.arange(len(end)))) is not None:
            moved = f"sends {wording.node(context, node)} to {wording.node(context, int(end[node]))}"
            return f"shift {place}, applied {times(order)} as its order says, {moved}; expected the same node"
    return None


def not_commuting(context: RouteContext) -> str | None:
    """Find two shifts that do not commute."""
    for (one, first), (other, second) in combinations(enumerate(context.group.shifts), 2):
        there, here = second[first], first[second]
        if (node := first_true(there != here)) is not None:
            ends = f"{wording.node(context, int(there[node]))} or {wording.node(context, int(here[node]))}"
            by_order = f"depending on whether {one} or {other} is applied first"
            return f"shifts {one} and {other} together send {wording.node(context, node)} to {ends}, {by_order}"
    return None


def not_free(context: RouteContext) -> str | None:
    """Find two products of powers of shifts that map a compute node to the same node."""
    is_done = np.zeros(context.network.size, dtype=np.bool_)
    for node in context.compute if context.group.shifts else ():
        if is_done[node]:
            continue
        images = context.group.images(node)
        if (again := _first_repeated(images)) is not None:
            return _both_sent(context, node, images, again)
        is_done[images] = True
    return None


def nowhere_free(context: RouteContext) -> str | None:
    """Find two products of powers of shifts that map a compute node with the most images to the same node."""
    if not context.group.shifts:
        return None
    node = context.compute[int(context.group.orbit_sizes[list(context.compute)].argmax())]
    images = context.group.images(node)
    again = _first_repeated(images)
    return None if again is None else _both_sent(context, node, images, again)


def _both_sent(context: RouteContext, node: int, images: IntArray, again: tuple[int, int]) -> str:
    """Return the message that the products at the places `again` map `node` to the same of its `images`."""
    powers = [wording.listed(context.group.powers(each)) for each in again]
    both = f"{wording.node(context, node)} to {wording.node(context, int(images[again[0]]))}"
    return f"the shifts to the powers {powers[0]} and to {powers[1]} both send {both}; expected different nodes"
