"""The map of links exists once, in `Topology`, and the walks over links exist once, in `topology/graph/walks.py`."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import forestcoll

SOURCE = Path(forestcoll.__file__).parent

OWN = {
    "topology/model.py": "has the maps",
    "verification/proof_checks/group_lengths.py": "a matrix of lengths",
}
"""Files that may build a map of links, and why."""

SEARCHES = {
    "topology/graph/walks.py": "has the walks",
    "verification/proof_checks/distances.py": "the verifier shares no code with the generators",
    "verification/proof_checks/prices.py": "the verifier shares no code with the generators",
    "algorithms/taccl.py": "a queue of sends whose keys change",
    "kernels/reference/all_to_all.py": "the plain reference of the core, which does not know the topology",
    "kernels/reference/breadth_first.py": "the plain reference of the core",
    "kernels/reference/chunk_taking.py": "a queue of events",
    "kernels/reference/network.py": "the plain reference of the core",
    "design/workloads/iteration.py": "a queue of messages",
    "oneport/message/waves.py": "a queue of sends whose keys change",
    "oneport/series/coloring.py": "alternating paths of a matching",
    "programs/interpreter/execution.py": "queues of messages",
    "programs/interpreter/local_order.py": "queues of messages",
    "programs/interpreter/order.py": "a queue of instructions",
    "programs/lowering/stolen_hops.py": "queues of events",
    "runtime/engine/execution.py": "a queue of operations",
    "runtime/member.py": "a queue of operations",
    "runtime/store.py": "a queue of threads",
    "simulation/lower_bound/flows_over_time.py": "arcs that take back, with costs below 0",
    "simulation/lower_bound/parts.py": "a queue of pairs to merge",
    "simulation/series/play.py": "a queue of messages",
    "simulation/traces.py": "queues of events",
    "torch/schedules/engines.py": "a queue of operations",
    "what_if/limiting_cuts.py": "images of a set of nodes",
    "what_if/value.py": "the last cuts",
}
"""Files that import `heapq` or `deque`, and for what."""


def _is_ends(node: ast.expr, link: str) -> bool:
    """Return whether an expression is `link.source, link.target`."""
    return ast.unparse(node).strip("()") == f"{link}.source, {link}.target"


def _walks_links(node: ast.comprehension | ast.For) -> Iterator[str]:
    """Yield the names of the variables of a loop over links."""
    if "links" in {each.attr for each in ast.walk(node.iter) if isinstance(each, ast.Attribute)}:
        yield from (each.id for each in ast.walk(node.target) if isinstance(each, ast.Name))


def maps_of_links(code: str) -> Iterator[int]:
    """Yield the lines in which a map of links, a set of their ends, or lists of the links of nodes begin."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.DictComp | ast.SetComp):
            key = node.key if isinstance(node, ast.DictComp) else node.elt
            if any(_is_ends(key, link) for each in node.generators for link in _walks_links(each)):
                yield node.lineno
        if isinstance(node, ast.For):
            for link in _walks_links(node):
                text = [ast.unparse(each) for each in node.body]
                ends = (f"[{link}.source].append({link}.", f"[{link}.target].append({link}.")
                if any(
                    f"[{link}.source, {link}.target] = " in each or any(end in each for end in ends) for each in text
                ):
                    yield node.lineno


def places(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def test_only_the_topology_maps_its_links() -> None:
    found = {places(path): list(maps_of_links(path.read_text())) for path in sorted(SOURCE.rglob("*.py"))}
    assert not {place: lines for place, lines in found.items() if lines and place not in OWN}, (
        "use link_numbers, bandwidths, leaving, entering, targets or sources of the topology"
    )


@pytest.mark.parametrize(
    "code",
    [
        "{(link.source, link.target): place for place, link in enumerate(topology.links)}",
        "{(e.source, e.target) for e in self.part.links}",
        "for link in topology.links:\n    after[link.source].append(link.target)",
        "for place, link in enumerate(topology.links):\n    if place:\n        found[link.source, link.target] = place",
    ],
)
def test_a_map_of_links_is_found(code: str) -> None:
    assert list(maps_of_links(code)) == [1]


def test_only_listed_files_search_by_themselves() -> None:
    tools = ("heapq", "collections.deque")
    found = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import) and any(each.name == "heapq" for each in node.names):
                found.add(places(path))
            if isinstance(node, ast.ImportFrom):
                names = {f"{node.module}.{each.name}" for each in node.names}
                if any(name.startswith(tools) for name in names):
                    found.add(places(path))
    assert found <= SEARCHES.keys(), "use topology/graph/walks.py"
