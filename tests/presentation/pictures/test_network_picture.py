import os
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from forestcoll.algorithms.generate import generate, optimum
from forestcoll.presentation.pictures.colours import load_class, style
from forestcoll.presentation.pictures.layout import layout_of
from forestcoll.presentation.pictures.network.cut import DrawnCut
from forestcoll.presentation.pictures.network.loads import busy_parts
from forestcoll.presentation.pictures.network.picture import load_picture, network_picture
from forestcoll.presentation.pictures.network.wires import paired, wires_of
from forestcoll.presentation.pictures.svg import Element, text
from forestcoll.presentation.view import view
from forestcoll.topology.registry import build_topology
from networks import linked

SVG = "{http://www.w3.org/2000/svg}"


def parsed(picture: Element) -> ElementTree.Element:
    return ElementTree.fromstring(text(picture))  # noqa: S314 (our own text)


def titles(picture: Element, kind: str) -> list[str]:
    found = (each for each in parsed(picture).iter(f"{SVG}path") if kind in (each.get("class") or "").split())
    return [title.text or "" for each in found for title in each.findall(f"{SVG}title")]


def test_each_link_has_a_line_with_its_names_and_bandwidth() -> None:
    lines = titles(network_picture(build_topology("dgx-a100:boxes=2")), "wire")
    assert len(lines) == 32
    assert "b0/gpu0 and b0/nvswitch: 300 GB/s in each direction" in lines


def test_links_between_stacks_are_one_line_with_their_number() -> None:
    lines = titles(network_picture(build_topology("dgx-h100:boxes=16")), "wire")
    assert [line for line in lines if "112 x 50 GB/s = 5600 GB/s in each direction" in line]


def test_the_colour_of_a_link_is_its_load() -> None:
    schedule = generate("dgx-a100:boxes=2")
    lines = titles(load_picture(schedule), "load")
    assert len(lines) == 32
    assert {line.rpartition(", ")[2] for line in lines} == {"busy 100 % of the time"}
    assert set(busy_parts(schedule)) == {1.0}


def test_directions_with_different_loads_are_two_lines() -> None:
    schedule = generate("ring:nodes=4", "broadcast:root=0")
    busy = busy_parts(schedule)
    wires = wires_of(schedule.topology, layout_of(schedule.topology), busy)
    assert [back for _, back in paired(wires)].count(None) > 0
    assert len(titles(load_picture(schedule), "load")) > 4


def test_a_one_way_link_is_one_line() -> None:
    topology = build_topology("circulant:nodes=5,offsets=1,one_way=true")
    wires = wires_of(topology, layout_of(topology))
    assert all(back is None for _, back in paired(wires))
    assert sum(len(wire.links) for wire in wires) == len(topology.links)


def test_one_side_of_the_bottleneck_cut_is_shaded_and_its_links_are_in_words() -> None:
    topology = build_topology("dgx-h100:boxes=16")
    cut = DrawnCut.of(topology, optimum(topology).bound)
    assert cut is not None
    assert cut.words == "links into this side: 8 x 50 GB/s = 400 GB/s"
    assert len(cut.shaded) == 9
    picture = network_picture(topology, bound=optimum(topology).bound)
    assert sum("crossing" in (each.get("class") or "") for each in parsed(picture).iter(f"{SVG}path")) == 8 + 1
    shaded = [each for each in parsed(picture).iter(f"{SVG}rect") if "shaded" in (each.get("class") or "")]
    assert len(shaded) == 9 + 1


def test_lightness_grows_uniformly_with_the_load() -> None:
    rules = style().partition("@media")[0]
    lightness = []
    for part in range(21):
        colour = rules.partition(f".{load_class(part / 20)}{{stroke:#")[2][:6]
        red, green, blue = (int(colour[place : place + 2], 16) for place in (0, 2, 4))
        lightness.append(0.2126 * red + 0.7152 * green + 0.0722 * blue)
    steps = [a - b for a, b in pairwise(lightness)]
    assert min(steps) > 3
    assert max(steps) < 17


def test_names_from_a_file_are_escaped() -> None:
    topology = build_topology("ring:nodes=3")
    nodes = (replace(topology.nodes[0], id='<script>"&\x00\n\ud800'), *topology.nodes[1:])
    shown = text(network_picture(replace(topology, nodes=nodes), title="<b>"))
    assert "<script" not in shown
    assert parsed(network_picture(replace(topology, nodes=nodes))).tag == f"{SVG}svg"


@pytest.mark.parametrize(
    ("spec", "most"),
    [("dgx-a100:boxes=2", 20_000), ("cluster:box=dgx-h100,boxes=128", 20_000), ("torus:dims=8x8x16", 125_000)],
)
def test_pictures_are_small(spec: str, most: int) -> None:
    assert len(text(network_picture(build_topology(spec)))) < most


@pytest.mark.parametrize(
    "spec",
    [
        "torus:dims=3x3",
        *(pytest.param(each, marks=pytest.mark.slow) for each in ("mi250:boxes=2", "kautz:degree=3,length=3")),
    ],
)
def test_pictures_have_the_same_bytes_in_a_process_with_another_seed_of_hashes(spec: str) -> None:
    program = (
        "import sys; from forestcoll.presentation.view import view;"
        "from forestcoll.algorithms.generate import generate;"
        "sys.stdout.write(view(generate(sys.argv[1])).html())"
    )
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    words, variables = [sys.executable, "-c", program, spec], os.environ | {"PYTHONHASHSEED": seed}
    done = subprocess.run(words, env=variables, capture_output=True, text=True, check=True, timeout=120)  # noqa: S603
    assert done.stdout == view(generate(spec)).html()


@pytest.mark.parametrize(("back", "count"), [(False, 3), (True, 0)])
def test_links_without_a_link_back_have_an_arrow(count: int, *, back: bool) -> None:
    topology = linked("a b c", "a=b b=c c=a" if back else "a>b b>c c>a")
    for drawn, kind in ((network_picture(topology), "arrow"), (load_picture(generate(topology)), "head")):
        heads = [each for each in parsed(drawn).iter(f"{SVG}polygon") if kind in (each.get("class") or "").split()]
        assert len(heads) == count
        assert ("arrow: a link in this direction only" in text(drawn)) == bool(count)


def test_an_arrow_points_to_the_node_that_receives() -> None:
    topology = linked("a b c", "a>b b>c c>a")
    layout = layout_of(topology)
    found = parsed(network_picture(topology, layout=layout)).iter(f"{SVG}polygon")
    ends = {(link.source, link.target) for link in topology.links}
    for each in found:
        tip, *rear = (tuple(map(float, pair.split(","))) for pair in (each.get("points") or "").split())
        behind = tuple(sum(values) / 2 for values in zip(*rear, strict=True))
        ahead = [
            (mark.x - behind[0]) * (tip[0] - behind[0]) + (mark.y - behind[1]) * (tip[1] - behind[1])
            for mark in layout.marks
        ]
        source = min(range(3), key=lambda mark: ahead[mark])
        target = max(range(3), key=lambda mark: ahead[mark])
        assert (source, target) in ends


def test_the_mark_of_many_nodes_leaves_its_neighbours_free() -> None:
    layout = layout_of(build_topology("ring:nodes=200"))
    (stack,) = (mark for mark in layout.marks if mark.is_stack)
    for mark in layout.marks:
        if mark is not stack:
            apart = abs(mark.x - stack.x) - (mark.width + stack.width) / 2
            above = abs(mark.y - stack.y) - (mark.height + stack.height) / 2
            assert max(apart, above) > 8
