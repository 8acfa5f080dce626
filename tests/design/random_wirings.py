"""Random networks of one degree for hypothesis."""

from forestcoll.design.wiring import Wiring


def random_wiring(nodes: int, degree: int, draw: object) -> Wiring:
    """A union of permutations, shuffled by a `Random` that hypothesis draws. It may have loops and parallel arcs."""
    columns = [list(range(nodes)) for _ in range(degree)]
    for column in columns:
        draw.shuffle(column)  # type: ignore[attr-defined]
    return Wiring.of_arcs(nodes, [(node, column[node]) for node in range(nodes) for column in columns])
