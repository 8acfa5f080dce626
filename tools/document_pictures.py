"""Draw the pictures of the documents: it writes them to docs/pictures.

    .venv/bin/python tools/document_pictures.py [FOLDER]

The same version of forestcoll always writes the same bytes; a test compares them with the committed files.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from forestcoll.algorithms.generate import generate
from forestcoll.comparison import compare
from forestcoll.comparison.by_boxes import by_boxes
from forestcoll.comparison.curves import schedule_of
from forestcoll.demand.demand import NodeDemand
from forestcoll.design.realisation import topology_of
from forestcoll.design.search.finder import find_topologies
from forestcoll.presentation.pages.figures import box_lines, size_lines
from forestcoll.presentation.pictures.network.picture import load_picture
from forestcoll.presentation.pictures.sends.picture import story_picture
from forestcoll.presentation.pictures.sends.side_by_side import story_of_shard
from forestcoll.presentation.pictures.sends.stories import stories_of
from forestcoll.presentation.pictures.svg import text
from forestcoll.presentation.results.networks.frontier_plot import frontier_plot
from forestcoll.presentation.view import view
from forestcoll.presentation.view.pairs import side_by_side_svg
from forestcoll.presentation.view.view import View
from forestcoll.topology.registry import build_topology

NETWORKS = {
    "dgx-a100": "dgx-a100:boxes=2",
    "dgx-h100": "dgx-h100:boxes=16",
    "cluster": "cluster:box=dgx-h100,boxes=128,rails=8,boxes_per_leaf=32",
    "torus": "torus:dims=4x4x4",
}
"""The network of each picture of a network, by the name of the file."""


def pictures() -> Iterator[tuple[str, str]]:
    """Yield the name of each file with its content."""
    for name, spec in NETWORKS.items():
        yield f"{name}.svg", view(build_topology(spec)).svg()
    found = compare("dgx-a100:boxes=2", baselines=["nccl-ring"], sizes=[])
    ring, forest = (schedule_of(found.row(name)) for name in ("nccl-ring", "forestcoll"))
    yield "rings-and-forest.svg", side_by_side_svg(ring, forest, names=("NCCL's rings", "forestcoll"))
    yield "loads.svg", text(load_picture(ring, title="The loads of NCCL's rings on two DGX A100 boxes"))
    tree = generate("mi250:boxes=2")
    yield "tree.svg", text(story_picture(tree.topology, story_of_shard(tree, 0)))
    steps = generate(build_topology("torus:dims=4x4"), method="bfb")
    shard = next(story for story in stories_of(steps) if story.shard is not None)
    yield from _report_pictures()
    yield from _finder_pictures()
    yield "steps.svg", text(story_picture(steps.topology, shard))


def _report_pictures() -> Iterator[tuple[str, str]]:
    """Yield two charts of the report of a comparison."""
    found = compare("dgx-a100:boxes=2", baselines=["nccl-ring", "two-level", "direct"])
    yield "report-sizes.svg", text(size_lines(found))
    yield "report-boxes.svg", text(box_lines(found, by_boxes(found)))


def _finder_pictures() -> Iterator[tuple[str, str]]:
    """Yield a frontier of networks, and a network on another frontier."""
    yield "frontier.svg", frontier_plot(find_topologies(1024, 4), find_topologies(1024, 4, published_only=True))
    found = topology_of(find_topologies(12, 4).members[0])
    yield "found-network.svg", View(found, None, None, NodeDemand()).svg()


def main() -> None:
    """Write the pictures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path("docs/pictures"))
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in pictures():
        (folder / name).write_text(content + "\n", encoding="utf-8")
        print(f"{folder / name}: {len(content):,} bytes")


if __name__ == "__main__":
    main()
