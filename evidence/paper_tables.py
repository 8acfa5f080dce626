"""Tables 5, 7 and 8 of the direct-connect paper, with the results of the finder. Table 4 is a part of Table 7."""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache

from forestcoll.design.constructions import Construction
from forestcoll.design.exchange_rate import exchange_rate
from forestcoll.design.measure import least_factor, moore_steps
from forestcoll.design.search.catalogue import bases
from forestcoll.design.search.exchanges import exchange_frontier
from forestcoll.design.search.finder import TopologyFinder
from forestcoll.design.workloads.workload import Workload, WorkloadTraffic, allreduce_time_us
from forestcoll.topology.families.distance_regular import GRAPHS

_WORKLOAD = Workload(WorkloadTraffic.ALLREDUCE, 2**20, Fraction(10), Fraction(25, 2))

TABLE_7 = {
    # nodes: rows of network, T_L, T_B, D(G), rate of the multi-commodity flow
    32: [("L(K4,4)", 3, "1.000", 3, "5.71e-2"), ("DistReg(4,32)", 4, "0.969", 4, "5.26e-2")],
    64: [
        ("Π(4,64)", 3, "1.312", 3, "2.17e-2"),
        ("L(DBJMod(4,2))", 4, "1.000", 4, "2.21e-2"),
        ("Diamond□2", 6, "0.984", 6, "1.87e-2"),
    ],
    128: [
        ("L²(K4,4)", 4, "1.031", 4, "9.89e-3"),
        ("L(DistReg(4,32))", 5, "1.000", 5, "9.26e-3"),
        ("BiRing(2,8)□UniRing(1,4)□2", 10, "0.992", 10, "5.21e-3"),
    ],
    256: [
        ("DBJ(4,4)", 4, "1.328", 4, "4.04e-3"),
        ("L²(DBJMod(4,2))", 5, "1.016", 5, "4.10e-3"),
        ("L(Diamond□2)", 7, "1.000", 7, "3.62e-3"),
        ("DBJMod(2,4)□2", 10, "0.996", 8, "2.94e-3"),
    ],
    512: [
        ("L³(K4,4)", 5, "1.039", 5, "1.88e-3"),
        ("L²(DistReg(4,32))", 6, "1.008", 6, "1.78e-3"),
        ("L(BiRing(1,4)□3□UniRing(1,2))", 11, "1.000", 11, "1.12e-3"),
        ("UniRing(1,4)□3□UniRing(1,8)", 16, "0.998", 16, "5.58e-4"),
    ],
    1024: [
        ("Π(4,1024)", 5, "1.332", 5, "8.01e-4"),
        ("L³(C(16,{3,4}))", 6, "1.020", 6, "8.12e-4"),
        ("L²(Diamond□2)", 8, "1.004", 8, "7.34e-4"),
        ("L(DBJMod(2,4)□2)", 11, "1.000", 9, "6.18e-4"),
        ("(UniRing(1,4)□UniRing(1,8))□2", 20, "0.999", 20, "2.79e-4"),
    ],
}
TABLE_5 = {
    5: "K5",
    6: "K3*2",
    7: "C(7,{2,3})",
    8: "K4,4",
    9: "H(2,3)",
    10: "BiRing(2,5)*2",
    11: "C(11,{2,3})",
    12: "C(12,{2,3})",
}
TABLE_8 = {6: 2, 9: 2, 10: 3, 14: 3, 15: 3, 16: 4, 21: 3, 26: 3, 32: 4, 35: 3, 45: 4, 70: 7, 80: 4, 189: 6, 728: 6}


Row = tuple[str, int, str, int, str]
"""A printed row of Table 7: network, T_L, T_B, diameter and rate of an all-to-all."""


@cache
def found(nodes: int, *, published_only: bool) -> tuple[Construction, ...]:
    """Return the networks of degree 4 that are the best in T_L, T_B and the rate of an all-to-all."""
    return exchange_frontier(TopologyFinder(published_only=published_only), nodes, 4).members


def rate(network: Construction) -> float:
    """Return the rate from every node to every other one, in units of the bandwidth of a link, as in LP (3)."""
    return float(exchange_rate(network).algbw) / network.nodes


def rows_of_table_seven() -> Iterator[tuple[int, Row]]:
    """Yield the printed rows, each with its number of nodes."""
    for nodes, rows in TABLE_7.items():
        for row in rows:
            yield nodes, row


def reaching(nodes: int, row: Row) -> tuple[Construction, ...]:
    """Return the networks that are at least as good in all four printed columns, to the printed digits."""
    _, steps, factor, diameter, printed = row
    return tuple(
        each
        for each in found(nodes, published_only=False)
        if each.cost.steps <= steps
        and each.diameter <= diameter
        and Fraction(f"{float(each.cost.bandwidth_factor):.3f}") <= Fraction(factor)
        and float(_written(rate(each))) >= float(printed)
    )


def exceeding(nodes: int, row: Row) -> tuple[Construction, ...]:
    """Return the networks that are at least as good in all four printed columns, and better in one."""
    _, steps, factor, diameter, printed = row
    return tuple(
        each
        for each in reaching(nodes, row)
        if (each.cost.steps, f"{float(each.cost.bandwidth_factor):.3f}", each.diameter) != (steps, factor, diameter)
        or float(_written(rate(each))) > float(printed)
    )


def table_seven() -> Iterator[str]:
    """Yield the lines of Table 7."""
    yield "| N | bases | network | T_L | T_B (M/B) | diameter | allreduce (us) | all-to-all rate | its bound |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    for nodes, rows in TABLE_7.items():
        for row in rows:
            name, steps, factor, diameter, printed = row
            by = ", ".join(each.name for each in reaching(nodes, row)) or "no network here"
            yield f"| {nodes} | the paper; reached by {by} | {name} | {steps} | {factor} | {diameter} | | {printed} | |"
        for published, label in ((True, "the paper's, here"), (False, "all, here")):
            for member in found(nodes, published_only=published):
                yield f"| {nodes} | {label} | {_cells(member)} |"
        least = moore_steps(nodes, 4)
        yield f"| {nodes} | no better | | {least} | {float(least_factor(nodes)):.3f} | {least} | | | |"


def written_rate(network: Construction) -> str:
    """Return the rate of `rate`, as the paper writes it."""
    return _written(rate(network))


def written_bound(network: Construction) -> str:
    """Return the proven bound of the rate, as the paper writes it."""
    return _written(float(exchange_rate(network).bound / network.nodes))


def _cells(member: Construction) -> str:
    time = float(allreduce_time_us(member, _WORKLOAD))
    cost = f"{member.cost.steps} | {float(member.cost.bandwidth_factor):.3f} | {member.diameter}"
    return f"{member.name} | {cost} | {time:.1f} | {written_rate(member)} | {written_bound(member)}"


def _written(rate: float) -> str:
    digits, _, power = f"{rate:.2e}".partition("e")
    return f"{digits}e{int(power)}"


def table_five() -> Iterator[str]:
    """Yield the lines of Table 5."""
    yield "| N | the paper | here | allreduce T_L, both |"
    yield "| --- | --- | --- | --- |"
    finder = TopologyFinder(bidirectional=True, published_only=True)
    for nodes, name in TABLE_5.items():
        (member,) = finder.find(nodes, 4).members
        yield f"| {nodes} | {name} | {member.name} | {2 * member.cost.steps} |"


def table_eight() -> Iterator[str]:
    """Yield the lines of Table 8."""
    yield "| graph | N | T_L of the paper | T_L here | least one-way | least bidirectional |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for nodes, steps in TABLE_8.items():
        (found,) = [base for base in bases(nodes, 4, published_only=True) if base.name.startswith("DistReg")]
        least = f"{moore_steps(nodes, 4)} | {moore_steps(nodes, 4, bidirectional=True)}"
        yield f"| {GRAPHS[nodes][0]} | {nodes} | {steps} | {found.cost.steps} | {least} |"
