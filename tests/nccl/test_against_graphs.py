"""The graphs of NCCL as rows of a comparison: mapping to nodes, rings, trees, and files that are wrong."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from forestcoll import Comparison, Topology, TopologyBuilder, compare, load_topology
from forestcoll.algorithms.generate import problem_of
from forestcoll.nccl.graph.file import GraphFile, Pattern, graphs_text, read_graphs
from forestcoll.nccl.graph.schedules import schedule_of_graph
from forestcoll.topology.importers.source import Source
from networks import rails
from refusal import refusal

EXAMPLE = """<graphs version="1">
  <graph id="0" pattern="4" crossnic="0" nchannels="2" speedintra="12" speedinter="12" typeintra="SYS" typeinter="SYS"
   samechannels="1">
    <channel><net dev="3"/><gpu dev="0"/><gpu dev="1"/><gpu dev="2"/><gpu dev="3"/><net dev="0"/></channel>
    <channel><net dev="3"/><gpu dev="0"/><gpu dev="1"/><gpu dev="2"/><gpu dev="3"/><net dev="0"/></channel>
  </graph>
  <graph id="1" pattern="3" crossnic="0" nchannels="2" speedintra="6" speedinter="6" samechannels="1">
    <channel><net dev="3"/><gpu dev="0"/><gpu dev="1"/><gpu dev="2"/><gpu dev="3"/><net dev="3"/></channel>
  </graph>
  <graph id="2" pattern="3" crossnic="0" nchannels="0" speedintra="0" speedinter="0" typeintra="NVL" samechannels="1"/>
</graphs>"""
"""The form of a file that NCCL 2.9 wrote (NVIDIA/nccl, issue 524)."""


def graphs(*channels: Sequence[object], pattern: int = 4, crossnic: int = 0) -> str:
    """Return a file with one graph. A channel is a list of GPUs, with a NIC before and after them as text."""
    lines = (
        "".join(f'<net dev="{each}"/>' if isinstance(each, str) else f'<gpu dev="{each}"/>' for each in channel)
        for channel in channels
    )
    body = "".join(f"<channel>{line}</channel>" for line in lines)
    return f'<graphs version="1"><graph id="0" pattern="{pattern}" crossnic="{crossnic}">{body}</graph></graphs>'


def against(folder: Path, text: str, topology: str | Topology, collective: str = "allgather") -> Comparison:
    file = folder / "graph.xml"
    file.write_text(text)
    return compare(topology, collective, sizes=[2**20], baselines=[file])


def rings_of(folder: Path, text: str, topology: str | Topology, collective: str = "allgather") -> Fraction:
    return against(folder, text, topology, collective).row(f"{folder / 'graph.xml'}: rings").algbw


def box_of_direct_links() -> Topology:
    builder = TopologyBuilder("one box")
    for gpu in range(4):
        builder.add_compute(gpu, box=0)
    for gpu in range(4):
        builder.add_duplex(gpu, (gpu + 1) % 4, 1)
    return builder.build()


def test_a_file_of_nccl_is_read_also_with_hexadecimal_numbers_and_ranks() -> None:
    found = read_graphs(Source("graph.xml", EXAMPLE, "graph"))
    assert found.rings is not None
    assert found.trees is not None
    assert [(each.entry, each.gpus, each.leaving) for each in found.rings.channels] == [(3, (0, 1, 2, 3), 0)] * 2
    assert (found.trees.pattern, len(found.trees.channels)) == (Pattern.TREE, 1)
    text = '<graphs><graph id="0" pattern="4"><channel>{}</channel></graph></graphs>'
    gpus = "".join(f'<gpu dev="0x{rank // 4:x}0{rank % 4}" rank="{rank}"/>' for rank in (0, 5, 3, 1, 2, 4, 7, 6))
    rings = read_graphs(Source("graph.xml", text.format(gpus), "graph")).rings
    assert rings is not None
    assert rings.channels[0].gpus == (0, 5, 3, 1, 2, 4, 7, 6)


def test_decimal_dumps_are_told_from_hexadecimal_ones_and_ranks_are_left_out() -> None:
    def read(*gpus: str) -> GraphFile:
        channel = "".join(f"<gpu {each}/>" for each in gpus)
        text = f'<graphs><graph id="0" pattern="4"><channel>{channel}</channel></graph></graphs>'
        return read_graphs(Source("g", text, "g"))

    def devices(*gpus: str) -> tuple[int, ...]:
        found = read(*gpus).rings
        assert found is not None
        return found.devices

    assert devices('dev="9"', 'dev="10"') == (9, 10)
    assert devices('dev="0x9"', 'dev="10"') == (9, 16)
    assert devices('dev="9" rank="3"', 'dev="10" rank="2"') == (9, 16)
    assert read('dev="9"', 'dev="10"').notes == (
        "device numbers are decimal, as of NCCL up to 2.20; later versions read them in base 16",
    )
    assert "rank of 2 <gpu> is left out" in read('dev="0" rank="3"', 'dev="0x1" rank="2"').notes[0]
    shared = read('dev="0" rank="3"', 'dev="0" rank="2"')
    assert shared.rings is not None
    assert shared.rings.channels[0].gpus == (1, 0)
    assert "several ranks share a GPU" in refusal(graphs_text, shared, "g")


def test_more_channels_than_nccl_holds_are_not_written() -> None:
    for count, said in ((32, ""), (33, "33 channels; NCCL holds 32 of a file at most")):
        found = read_graphs(Source("g", graphs(*([0, 1],) * count), "g"))
        assert (said in refusal(graphs_text, found, "g")) if said else graphs_text(found, "g")


def test_rings_through_all_nics_reach_what_nccl_can_and_over_two_they_leave_the_others_idle(tmp_path: Path) -> None:
    # Ring i enters at GPU i and leaves at the other GPU of its pair.
    orders = [[gpu, *(other for other in range(8) if other not in {gpu, gpu ^ 1}), gpu ^ 1] for gpu in range(8)]
    text = graphs(*([f"{each[0]}", *each, f"{each[-1]}"] for each in orders))
    for boxes, algbw in ((2, "640/3"), (3, "4800/23")):
        topology = f"dgx-a100:boxes={boxes}"
        assert rings_of(tmp_path, text, topology) == Fraction(algbw)
        assert rings_of(tmp_path, text, topology, "reduce-scatter") == Fraction(algbw)
        assert rings_of(tmp_path, text, topology, "allreduce") == Fraction(algbw) / 2
    order = (0, 2, 3, 4, 5, 6, 7, 1)
    text = graphs(["0", *order, "1"], ["1", *order[::-1], "0"])
    row = against(tmp_path, text, "dgx-a100:boxes=2").row(f"{tmp_path / 'graph.xml'}: rings")
    assert row.algbw == Fraction(2 * 25 * 16, 15)
    assert "NIC links 100% busy and 24 of 32 idle" in row.reason


def test_a_ring_keeps_its_direction_in_both_phases_of_an_allreduce(tmp_path: Path) -> None:
    one, both = graphs([0, 1, 2, 3]), graphs([0, 1, 2, 3], [3, 2, 1, 0])
    values = [("allgather", "4/3"), ("reduce-scatter", "4/3"), ("allreduce", "2/3")]
    for collective, algbw in values:
        assert rings_of(tmp_path, one, box_of_direct_links(), collective) == Fraction(algbw)
        assert rings_of(tmp_path, both, box_of_direct_links(), collective) == 2 * Fraction(algbw)


def test_rings_that_change_nics_stay_on_rails(tmp_path: Path) -> None:
    channels = (["0", 0, 2, 3, 1, "1"], ["1", 1, 2, 3, 0, "0"], ["2", 2, 0, 1, 3, "3"], ["3", 3, 0, 1, 2, "2"])
    found = against(tmp_path, graphs(*channels), rails())
    assert [each.name for each in found.skipped] == [f"{tmp_path / 'graph.xml'}: rings"]
    assert "no path through switches" in found.skipped[0].reason
    assert rings_of(tmp_path, graphs(*channels, crossnic=2), rails()) == 40 * Fraction(8, 7)


def test_trees_are_for_an_allreduce(tmp_path: Path) -> None:
    text = graphs(["0", *range(8), "0"], pattern=1)
    found = against(tmp_path, text, "dgx-a100:boxes=2", "allreduce")
    assert found.row(f"{tmp_path / 'graph.xml'}: trees").algbw == 25
    found = against(tmp_path, text, "dgx-a100:boxes=2")
    assert [each.reason for each in found.skipped] == ["NCCL uses trees only for an allreduce"]


def test_the_pattern_of_a_tree_says_which_gpu_sends_to_the_child_boxes() -> None:
    network = load_topology("dgx-a100:boxes=4")
    problem = problem_of(network, "allreduce")
    for pattern, senders in {1: {0: 1, 1: 1}, 2: {1: 2}, 3: {0: 2}}.items():
        graph = read_graphs(Source("g", graphs(["0", *range(8), "1"], pattern=pattern), "g")).trees
        assert graph is not None
        schedule, _ = schedule_of_graph(problem, graph, "g")
        routes = [schedule.routes[route] for route in schedule.phases[1][0].routes]
        leaving = [route[0] % 8 for route in routes if len(route) == 3 and route[0] // 8 == 2 != route[2] // 8]
        assert Counter(leaving) == senders, pattern


def test_a_nic_out_of_reach_is_replaced_and_a_graph_of_all_compute_nodes_needs_no_boxes(tmp_path: Path) -> None:
    text = graphs(["0", *range(8), "0"])
    row = against(tmp_path, text, "dgx-a100:boxes=2").row(f"{tmp_path / 'graph.xml'}: rings")
    said = "the file's NIC is not within reach at 2 ends of channels, which use the NIC of their GPU"
    assert row.reason.endswith(said)
    assert rings_of(tmp_path, graphs([0, 1, 2, 3], [3, 2, 1, 0]), "ring:nodes=4") == Fraction(8, 3)


def test_a_wrong_graph_is_one_line_of_error(tmp_path: Path) -> None:
    for text, message in [
        (graphs([0, 1, 2, 3]), "describes a box of 4 GPUs, and 8 compute nodes of box 0 take part"),
        (graphs([0, 1, 1]), "line 1: every channel of a graph must list every GPU of the box once"),
        (graphs([0, 1], [0, 2]), "line 1: every channel of a graph must list every GPU of the box once"),
        (graphs(["0", 0, 1]), "line 1: a channel has 1 <net>; expected one before the GPUs and one after"),
        (graphs([0, 1], pattern=5), "holds no <graph> with channels of pattern 1 to 4"),
        ('<graphs><graph id="0" pattern="4"><channel><gpu/></channel></graph></graphs>', "dev of <gpu> is missing"),
        ('<graphs><graph id="0" pattern="x"/></graphs>', "pattern of <graph> is 'x'; expected a number"),
        ("<graphs><graph", "not well-formed XML"),
        ('<!DOCTYPE g [<!ENTITY a "b">]><graphs>&a;</graphs>', "declares the XML entity"),
    ]:
        said = refusal(against, tmp_path, text, "dgx-a100:boxes=2")
        assert "graph.xml: " in said, text
        assert message in said
    assert "give nodes the attribute 'box'" in refusal(against, tmp_path, graphs([0, 1]), "ring:nodes=4")
