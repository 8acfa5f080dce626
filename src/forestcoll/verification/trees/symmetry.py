"""Rules about the symmetry of a schedule. Each returns the message of the first offender, or None.

Together they say that the shifts generate a group of symmetries of the network, of as many elements as the orders'
product, none of which but the identity leaves a compute node in place. The image of a tree under such an element is a
tree of the same form, so what the rules about routes and trees say of base trees is true of all.

That the images of one node of an orbit differ is enough: in a group whose elements commute, two that send a node to
one and the same send each node of its orbit to one and the same.
"""

from itertools import combinations

import numpy as np

from forestcoll.schedule.rows import IntArray
from forestcoll.verification.permutations import power
from forestcoll.verification.search import first_true
from forestcoll.verification.trees import wording
from forestcoll.verification.trees.case import Case


def order_wrong(case: Case) -> str | None:
    """Find a shift that is none, or more elements than can tell the compute nodes apart."""
    for place, order in enumerate(case.group.orders):
        if order < 2:
            return f"shift {place} has order {order}; expected 2 or more"
    if case.group.order <= len(case.compute):
        return None
    orders = wording.listed(case.group.orders)
    return f"the orders of the shifts, {orders}, multiply to more than the {len(case.compute)} {wording.members(case)}"


def image_wrong(case: Case) -> str | None:
    """Find a shift that is not a permutation of the nodes."""
    size = case.network.size
    for place, shift in enumerate(case.group.shifts):
        if len(shift) != size:
            return f"shift {place} has the images of {len(shift)} nodes; expected one for each of {size}"
        if (node := first_true((shift < 0) | (shift >= size))) is not None:
            sent = f"{wording.node(case, node)} to node number {shift[node]}"
            return f"shift {place} sends {sent}; expected 0 to {size - 1}"
        if (again := _first_repeated(shift)) is not None:
            first, second = (wording.node(case, node) for node in again)
            both = wording.node(case, int(shift[again[0]]))
            return f"shift {place} sends {first} and {second} both to {both}; expected a node for each"
    return None


def _first_repeated(shift: IntArray) -> tuple[int, int] | None:
    """Return the first node that is sent where one before it is sent, behind that one."""
    _, firsts = np.unique(shift, return_index=True)
    is_again = np.ones(len(shift), dtype=np.bool_)
    is_again[firsts] = False
    second = first_true(is_again)
    return None if second is None else (int((shift == shift[second]).argmax()), second)


def kind_wrong(case: Case) -> str | None:
    """Find a node that is sent to one of another kind."""
    network = case.network
    takes_part = np.zeros(network.size, dtype=np.bool_)
    takes_part[list(case.compute)] = True
    for place, shift in enumerate(case.group.shifts):
        differs = np.zeros(network.size, dtype=np.bool_)
        for mark in (network.is_compute, takes_part, network.can_multicast, network.can_aggregate):
            differs |= mark != mark[shift]
        if (node := first_true(differs)) is not None:
            sent = f"{wording.kind(case, node)} to {wording.kind(case, int(shift[node]))}"
            return f"shift {place} sends {sent}; expected a node of the same kind"
    return None


def link_wrong(case: Case) -> str | None:
    """Find a link that is not sent to a link of the same bandwidth."""
    links = case.schedule.topology.links
    _, class_of = case.network.bandwidths
    for place, (shift, images) in enumerate(zip(case.group.shifts, case.group.link_images, strict=True)):
        number = first_true((images < 0) | (class_of != class_of[images]))
        if number is None:
            continue
        link, image = links[number], int(images[number])
        ends = f"{wording.node(case, link.source)} -> {wording.node(case, link.target)}"
        sent = " -> ".join(wording.node(case, int(shift[end])) for end in (link.source, link.target))
        if image < 0:
            return f"shift {place} sends link {ends} to {sent}, but the topology has no such link"
        found = f"{sent} of bandwidth {wording.number(links[image].bandwidth)}"
        return (
            f"shift {place} sends link {ends} of bandwidth {wording.number(link.bandwidth)} to {found}; expected equal"
        )
    return None


def return_wrong(case: Case) -> str | None:
    """Find a shift that is not back at its beginning after as many steps as its order says."""
    for place, (shift, order) in enumerate(zip(case.group.shifts, case.group.orders, strict=True)):
        end = power(shift, order)
        if (node := first_true(end != np.arange(len(end)))) is not None:
            moved = f"sends {wording.node(case, node)} to {wording.node(case, int(end[node]))}"
            return f"shift {place}, applied {order} times as its order says, {moved}; expected back to itself"
    return None


def not_commuting(case: Case) -> str | None:
    """Find two shifts whose order matters."""
    for (one, first), (other, second) in combinations(enumerate(case.group.shifts), 2):
        there, here = second[first], first[second]
        if (node := first_true(there != here)) is not None:
            ends = f"{wording.node(case, int(there[node]))} or {wording.node(case, int(here[node]))}"
            by_order = f"as {one} or {other} comes first; expected the same"
            return f"shifts {one} and {other} together send {wording.node(case, node)} to {ends}, {by_order}"
    return None


def not_free(case: Case) -> str | None:
    """Find two products of powers of shifts that send a compute node to one and the same node."""
    is_done = np.zeros(case.network.size, dtype=np.bool_)
    for node in case.compute if case.group.shifts else ():
        if is_done[node]:
            continue
        images = case.group.images(node)
        if (again := _first_repeated(images)) is not None:
            powers = [wording.listed(case.group.powers(each)) for each in again]
            both = f"{wording.node(case, node)} to {wording.node(case, int(images[again[0]]))}"
            return f"the shifts to the powers {powers[0]} and to {powers[1]} both send {both}; expected different nodes"
        is_done[images] = True
    return None
