from itertools import combinations

import pytest

from forestcoll.presentation.pictures.layout import Mark, NetworkLayout, labels, layout_of
from forestcoll.presentation.pictures.layout.grids import lattice_shape
from forestcoll.presentation.pictures.layout.labels import FONT, fitted, text_width
from forestcoll.presentation.pictures.layout.structure import Structure
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.changes import changed_network
from forestcoll.topology.registry import build_topology, builders

SPECS = (
    "dgx-h100:boxes=16",
    "fat-tree:levels=3,arity=8",
    "cluster:box=dgx-h100,boxes=128,rails=8,boxes_per_leaf=32",
    "torus:dims=4x4x4",
    "torus:dims=8x8x16",
    "torus:dims=32x32",
    "hypercube:dim=4",
    "hypercube:dim=10",
    "ring:nodes=1024",
    "kautz:degree=2,length=8",
    *(builder.name for builder in builders()),
)


@pytest.mark.parametrize("text", ["a" * 100_000, "i" * 100_000, "ai/" * 33_333, "iiiiii", "abcdefgh"])
@pytest.mark.parametrize("width", [0, 10, 38, 60, 300])
def test_an_id_of_any_length_becomes_a_label(text: str, width: float, monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[int] = []
    usual = labels.text_width

    def counted(text: str, size: float = FONT) -> float:
        measured.append(len(text))
        return usual(text, size)

    monkeypatch.setattr(labels, "text_width", counted)
    short = fitted(text, width)
    assert sum(measured) <= width**2  # not all of a long text, once for each of its letters
    candidates = [text, *(f"{text[: (kept + 1) // 2]}…{text[len(text) - kept // 2 :]}" for kept in range(100, 1, -1))]
    expected = (each for each in candidates if len(each) <= len(text) and text_width(each) <= width)
    assert short == next(expected, "")


def overlap(one: Mark, other: Mark) -> bool:
    wide = (one.width + other.width) / 2 - abs(one.x - other.x)
    high = (one.height + other.height) / 2 - abs(one.y - other.y)
    return wide > 0.01 and high > 0.01


def assert_readable(layout: NetworkLayout, nodes: int) -> None:
    assert sorted(node for mark in layout.marks for node in mark.nodes) == list(range(nodes))
    for mark in layout.marks:
        assert mark.width / 2 <= mark.x <= layout.width - mark.width / 2
        assert mark.height / 2 <= mark.y <= layout.height - mark.height / 2
        assert text_width(mark.label, FONT) <= mark.width, mark.label
    assert not [pair for pair in combinations(layout.marks, 2) if overlap(*pair)]
    assert len(layout.marks) <= 257
    assert layout.width <= 1500


@pytest.mark.parametrize("spec", SPECS)
def test_each_node_has_one_mark_and_marks_do_not_overlap(spec: str) -> None:
    topology = build_topology(spec)
    assert_readable(layout_of(topology), len(topology.nodes))


@pytest.mark.parametrize(
    ("spec", "shape"),
    [
        ("torus:dims=4x4", (4, 4)),
        ("torus:dims=3x4x5", (3, 4, 5)),
        ("mesh:dims=3x4", (3, 4)),
        ("hypercube:dim=3", (2, 2, 2)),
        ("ring:nodes=8", None),
        ("complete:nodes=8", None),
        ("dgx-a100:boxes=2", None),
    ],
)
def test_a_lattice_is_recognised_by_its_links(spec: str, shape: tuple[int, ...] | None) -> None:
    assert lattice_shape(Structure(build_topology(spec))) == shape


def test_boxes_of_equal_structure_share_a_mark_with_their_number() -> None:
    layout = layout_of(build_topology("dgx-h100:boxes=16"))
    stacks = [mark for mark in layout.marks if mark.is_stack]
    assert [mark.label for mark in stacks] == ["14 boxes like box 0"]
    assert len(stacks[0].nodes) == 14 * 9
    assert [frame.label for frame in layout.frames] == ["box 0", "box 1"]


def test_a_box_with_a_failed_link_is_not_folded_with_the_others() -> None:
    layout = layout_of(changed_network(build_topology("dgx-h100:boxes=16"), ["b5/gpu0--ib"]))
    assert "box 5" in [frame.label for frame in layout.frames]
    assert "14 boxes like box 0" in [mark.label for mark in layout.marks]


def test_switches_outside_boxes_are_above_them_by_distance() -> None:
    topology = build_topology("superpod-h100")
    layout = layout_of(topology)
    heights = {
        name: layout.marks[layout.of_node[topology.number(name)]].y
        for name in ("spine", "leaf0", "b0/gpu0", "b0/nvswitch")
    }
    assert heights["spine"] < heights["leaf0"] < heights["b0/gpu0"] < heights["b0/nvswitch"]


def test_the_names_of_nics_are_drawn_whole() -> None:
    builder = TopologyBuilder("hosts")
    fabric = builder.add_switch("fabric")
    for box in range(2):
        nvswitch = builder.add_switch(f"b{box}/NVSwitch", box=box)
        for place in range(8):
            gpu = builder.add_compute(f"b{box}/GPU{place}", box=box)
            nic = builder.add_switch(f"b{box}/mlx5_{place}", box=box)
            builder.add_duplex(gpu, nvswitch, 300)
            builder.add_duplex(gpu, nic, 32)
            builder.add_duplex(nic, fabric, 25)
    labels = [mark.label for mark in layout_of(builder.build()).marks]
    assert labels.count("mlx5_0") == labels.count("mlx5_7") == 2
