"""What NCCL reaches after changes, next to the optimum; and the order of hosts as a cause."""

from fractions import Fraction

import pytest

from forestcoll import additions, failures, load_topology, optimum, upgrades
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.presentation.results.comparisons.what_if import study_page, upgrades_page
from forestcoll.topology.changes import change_named
from forestcoll.what_if import changes_of
from forestcoll.what_if.nccl_algbws import NcclAlgbws

FOUR = "dgx-h100:boxes=4"
DEAD = "b0/gpu0--ib"


def rows_of(document: object) -> list[dict[str, object]]:
    assert isinstance(document, dict)
    return list(document["rows"])


def lost(spec: str, collective: str) -> Fraction:
    """Return the part of the optimum that a dead NIC costs, from two optima of their own."""
    network = load_topology(spec)
    before, after = (Fraction(optimum(each, collective).algbw) for each in (network, network.without(DEAD)))
    return 1 - after / before


def test_a_dead_nic_costs_the_optimum_less_than_nccls_rings() -> None:
    assert lost(FOUR, "allreduce") == Fraction(1, 320)  # 0.3 %
    assert lost(FOUR, "allgather") == Fraction(1, 10)
    assert lost(f"{FOUR},nvls=true", "allreduce") == Fraction(1, 32)  # 3.1 %
    # each ring enters a host by a NIC of its own, so seven of eight are left
    nics = Fraction(7 * 50, 8 * 50)
    for collective in ("allgather", "allreduce"):
        [row] = failures(FOUR, "nics", collective).rows
        found = NcclAlgbws(load_topology(FOUR), NodeDemand(Collective(collective)))
        after = found.after(row.change).algbw
        assert after is not None
        assert found.now.algbw is not None
        assert 1 - after / found.now.algbw == 1 - nics == Fraction(1, 8)  # 12.5 %


def test_the_page_has_the_sentence_and_json_the_bandwidths() -> None:
    page = study_page(failures(FOUR, "nics", "allreduce"), "failure of nics")
    sentence = "b0/gpu0--ib costs the optimum 0.31%, NCCL's rings 12.50%, and NCCL's best setting 3.12%."
    assert sentence in page.lines()
    document = page.document()
    assert (document["library_algbw"], document["library_best_algbw"]) == ("6400/31", "6400/31")
    [row] = rows_of(document)
    assert (row["library_algbw"], row["library_best_algbw"], row["optimal"]) == ("5600/31", "200", True)


def test_nccl_has_no_rings_where_a_gpu_is_cut_off() -> None:
    page = study_page(failures("dgx-a100:boxes=2", "links"))
    [line] = [each for each in page.lines() if each.startswith("  b0/gpu0--b0/nvswitch ")]
    assert line.split("7.69%")[1].split()[:2] == ["-", "-"]
    assert [row["library_algbw"] for row in rows_of(page.document())] == [None, "560/3"]


@pytest.mark.parametrize("spec", ["ring:nodes=4", "torus:dims=3x3"])
def test_networks_without_hosts_have_no_column_of_nccl(spec: str) -> None:
    page = study_page(failures(spec, "links"))
    assert "NCCL" not in "\n".join(page.lines())
    assert rows_of(page.document())[0]["library_best_algbw"] is None


def test_new_links_are_nothing_that_nccl_knows() -> None:
    page = study_page(additions("dgx-a100:boxes=2,gpus=2"), "new link")
    assert "NCCL" not in "\n".join(page.lines())
    known = {row["change"]: row["library_algbw"] is not None for row in rows_of(page.document())}
    assert not known["b0/gpu0--b1/gpu0=300"]


def test_upgrades_state_what_nccl_gains() -> None:
    rows = rows_of(upgrades_page(upgrades("dgx-a100:boxes=2")).document())
    of = {row["change"]: row["library_algbw"] for row in rows}
    assert of["16 links of 25 GB/s between GPUs and switches"] == "2560/7"
    assert of["16 links of 300 GB/s between GPUs and box switches"] == "640/3"


def test_other_collectives_and_one_change() -> None:
    assert (
        rows_of(study_page(failures("dgx-a100:boxes=2,gpus=2", "nics", "all-to-all")).document())[0]["library_algbw"]
        is None
    )
    page = study_page(changes_of(FOUR, degrade=["b0/gpu0--ib=50%"]))
    assert any("costs the optimum" in line for line in page.lines())


def test_the_algorithm_is_that_of_the_table_of_the_machine() -> None:
    network = load_topology("dgx-h100:boxes=1,nvls=true")
    found = NcclAlgbws(network, NodeDemand(Collective.ALLREDUCE))
    assert found.now.algorithm == "NVLS"
    assert found.after(change_named(network, ["b0/gpu0--b0/nvswitch"])).algbw is None
