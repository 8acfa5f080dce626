import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from cli_run import edge, run_command, write_network

CONTRACT = {"upper_algbw", "achieved_algbw", "limit"}
OPERATIONS = ["allgather", "reduce-scatter", "broadcast", "reduce", "allreduce", "all-to-all"]


def document(*arguments: object) -> Any:
    return run_command("bounds", *arguments, "--json").document()


def test_json_has_the_documented_keys() -> None:
    found = document("dgx-a100:boxes=2")
    assert list(found["collectives"]) == OPERATIONS
    assert all(set(each) >= CONTRACT for each in found["collectives"].values())
    assert set(found["allreduce_rate"]) >= {"cut_set_upper", "tree_lower"}
    assert found["collectives"]["allgather"]["upper_algbw"] == "1040/3"
    assert found["collectives"]["allgather"]["achieved_algbw"] == "1040/3"
    assert found["collectives"]["allreduce"]["achieved_algbw"] == "520/3"
    assert found["collectives"]["all-to-all"]["achieved_algbw"] == "50"
    assert (found["allreduce_rate"]["cut_set_upper"], found["allreduce_rate"]["tree_lower"]) == ("200", "520/3")
    assert found["unit"] == "GB/s"


@pytest.mark.parametrize(
    ("spec", "lower", "upper"),
    [
        ("complete:nodes=4", "2", "3"),
        ("ring:nodes=4,one_way=true", "2/3", "1"),
        ("ring:nodes=4", "4/3", "2"),
        ("hypercube:dim=2", "4/3", "2"),
    ],
)
def test_the_table_of_rates(spec: str, lower: str, upper: str) -> None:
    rate = document(spec)["allreduce_rate"]
    assert (rate["tree_lower"], rate["cut_set_upper"]) == (lower, upper)


def test_what_codes_can_gain() -> None:
    path = document("mesh:dims=3")["allreduce_rate"]
    assert path["cut_edge"] == {"source": 0, "target": 1, "cut": [0]}
    assert (path["factor"], path["greatest_factor"], path["linear_upper"]) == ("1", "4/3", "1")
    ring = document("ring:nodes=3")["allreduce_rate"]
    assert (ring["factor"], ring["cut_edge"], ring["linear_upper"], ring["pipeline_overhead"]) == (
        "4/3",
        None,
        "3/2",
        3,
    )


@pytest.mark.parametrize(
    ("spec", "line"),
    [
        (
            "mesh:dims=3",
            "not faster than trees: trees fill 0 -> 1, the only link out of a set with 1 of 3 ranks (Theorem 3)",
        ),
        (
            "ring:nodes=2",
            "not faster than trees: trees fill 0 -> 1, the only link out of a set with 1 of 2 ranks (Theorem 3)",
        ),
        ("ring:nodes=3", "at most 4/3 (1.33333) times the rate along trees; linear codes are not faster than trees"),
        ("dgx-h100:boxes=1,nvls=true", "not faster than trees: trees reach the cut-set bound"),
        ("kautz:degree=2,length=1", "at most 5/3 (1.66667) times the rate along trees; linear codes are not faster"),
    ],
)
def test_the_table_says_what_codes_can_gain(spec: str, line: str) -> None:
    lines = run_command("bounds", spec).out.splitlines()
    assert any(each.startswith("  allreduce, with codes ") and line in each for each in lines)


def test_the_table_has_the_rate_of_blocks() -> None:
    assert "n / (n + 13) of the rate along trees" in run_command("bounds", "hypercube:dim=3").out


def test_a_cut_in_json_adds_up(tmp_path: Path) -> None:
    links = {("a", "b"): 3, ("b", "c"): 5, ("c", "a"): 4}
    path = write_network(tmp_path, [edge(*ends, value) for ends, value in links.items()], nodes="abc", directed=True)
    part = {"allgather": 1, "reduce-scatter": 2}  # thirds of the data for each node inside, or outside
    for name, each in document(path)["collectives"].items():
        proof = each["certificate"]
        if proof["kind"] == "cut":
            inside = set(proof["cut"])
            leaving = sum(value for (one, other), value in links.items() if one in inside and other not in inside)
            counted = inside if part.get(name) == 1 else set("abc") - inside
            share = Fraction(len(counted), 3) if name in part else Fraction(1)
            assert Fraction(each["upper_algbw"]) == leaving / share


def test_weighted_cuts_in_json_add_up_without_the_product() -> None:
    found = document("mi250:boxes=2")
    network = run_command("topology", "mi250:boxes=2")
    assert network.status == 0
    proof = found["collectives"]["allreduce"]["certificate"]
    assert proof["kind"] == "tree-dual"
    assert "symmetry" not in proof  # all images are written out
    edges = json.loads(network.out)
    held: dict[str, Fraction] = {}
    for cut in proof["cuts"]:
        for node in cut["cut"]:
            held[node] = held.get(node, Fraction(0)) + Fraction(cut["weight"])
    least = min(held.get(node["id"], Fraction(0)) for node in edges["nodes"] if node["kind"] == "compute")
    total = Fraction(0)
    for link in _both_ways(edges):
        total += Fraction(str(link[2])) * max(_price(proof, phase, link) for phase in ("reduce", "broadcast"))
    assert total / least == Fraction(found["collectives"]["allreduce"]["upper_algbw"])


def _both_ways(network: Any) -> list[tuple[str, str, object]]:
    links = [(each["source"], each["target"], each["bandwidth"]) for each in network["edges"]]
    return links if network["directed"] else links + [(target, source, value) for source, target, value in links]


def _price(proof: Any, phase: str, link: tuple[str, str, object]) -> Fraction:
    source, target, _ = link
    potentials = {each["node"]: each["potential"] for each in proof["potentials"][phase]}
    price = Fraction(potentials.get(source, 0)) - Fraction(potentials.get(target, 0))
    one, other = (source, target) if phase == "broadcast" else (target, source)
    for cut in proof["cuts"]:
        if cut["phase"] == phase and one in cut["cut"] and other not in cut["cut"]:
            price += Fraction(cut["weight"])
    return max(price, Fraction(0))


def test_the_text_report_shows_the_table() -> None:
    run = run_command("bounds", "dgx-a100:boxes=2")
    assert (run.status, run.err) == (0, "")
    for words in (
        "dgx-a100:boxes=2: bounds of all collectives, 16 compute nodes, in GB/s",
        "  allgather       1040/3 (346.667)  325             the bound\n",
        "  allgather: GPU b0/gpu0 must receive 15/16 of the data from the other 15 GPUs. All of it enters over ",
        "algbw <= 325 / (15/16) = 1040/3 GB/s.",
        "algbw <= 5200 / 30 = 520/3 GB/s.",
        "520/3 GB/s (173.333), the greatest rate along trees",
        "at least 1 send (b0/gpu0 -> b0/gpu1); at most 2 links between two nodes",
    ):
        assert words in run.out


def test_the_report_says_if_an_allreduce_beats_its_two_halves() -> None:
    out = run_command("bounds", "mi250:boxes=2,gpus=8").out
    assert "allreduce, along trees            128 GB/s, the greatest rate along trees\n" in out
    assert "reduce-scatter, then allgather  104 GB/s, 81.25% of the rate along trees\n" in out
    assert "both at the same time           the same\n" in out


def test_a_bound_that_is_not_known_to_be_reached_is_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forestcoll.solver.allreduce.search.MOST_NODES", 0)  # no trees are packed
    edges = [edge(node, hub) for node in "abcd" for hub in "xy"]
    path = write_network(tmp_path, edges, "abcd", "xy")
    network = json.loads(path.read_text())
    network["nodes"][4:] = [each | {"multicast": True, "aggregation": True} for each in network["nodes"][4:]]
    path.write_text(json.dumps(network))
    out = run_command("bounds", path).out
    assert re.search(r"allreduce .* \* .* 80\.00% of the bound", out)
    assert "* no schedule that reaches this bound is known" in out


def test_a_program_that_is_too_large_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forestcoll.solver.allreduce.linear_program.MOST_COLUMNS", 3)
    monkeypatch.setattr("forestcoll.solver.flows.search.MOST_COLUMNS", 3)
    monkeypatch.setattr("forestcoll.solver.flows.spreading.MOST_NODES", 2)
    out = run_command("bounds", "mi250:boxes=2").out
    assert "  allreduce: the bound may not be tight: its linear program has 48 columns; at most 3 can" in out
    assert "  all-to-all: not computed: its linear program has" in out
    assert "2656/15 GB/s (177.067), reached; a greater rate may be possible\n" in out
    found = document("mi250:boxes=2")
    assert set(found["not_computed"]) == {"allreduce", "all-to-all"}
    assert "all-to-all" not in found["collectives"]


def test_long_fractions_do_not_break_the_table(tmp_path: Path) -> None:
    edges = [edge("a", "b", f"1/{10**9 + 7}"), edge("b", "c", f"1/{10**9 + 9}"), edge("a", "c", f"1/{10**9 + 21}")]
    out = run_command("bounds", write_network(tmp_path, edges, nodes="abc")).out
    assert "about 3e-09" in out
    assert max(map(len, out.splitlines()[:8])) < 80


def test_the_root_is_given_by_id(tmp_path: Path) -> None:
    path = write_network(tmp_path, [edge("a", "b", 7), edge("b", "c", 2)], nodes="abc")
    assert document(path, "--root", "a")["collectives"]["broadcast"]["root"] == "a"
    assert document("ring:nodes=3", "--root", "1")["collectives"]["reduce"]["root"] == 1


def test_invalid_input_is_reported_in_one_line(tmp_path: Path) -> None:
    assert "no node 'z'" in run_command("bounds", "ring:nodes=3", "--root", "z").error_line()
    assert "is a switch" in run_command("bounds", "dgx-a100:boxes=2", "--root", "ib").error_line()
    assert "x.json" in run_command("bounds", tmp_path / "x.json").error_line()
    graph = {"format": "forestcoll.topology/1", "name": "slow", "bandwidth_unit": "GB/s", "port_model": "one-port"}
    path = write_network(tmp_path, [edge("a", "b")], graph=graph)
    assert "one-port" in run_command("bounds", path, "--json").error_line()
    run_command("bounds").error_line(2)


def test_bandwidths_of_more_than_128_bits_have_bounds() -> None:
    bounds: Any = run_command("bounds", "ring:nodes=3,bandwidth=1e38", "--json").document()["collectives"]
    assert bounds["allgather"]["upper_algbw"] == str(3 * 10**38)
    assert bounds["allreduce"]["achieved_algbw"] == str(15 * 10**37)
