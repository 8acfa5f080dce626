"""What NCCL chooses: the same times and choices as real communicators, and where tables come from.

`jobs.json` has jobs of NCCL 2.28.9, 2.30.7 and 2.32.3, most with sockets between hosts: the table of the job, as the
library gave it without a GPU; times that a running NCCL handed to a tuner plugin (-1: not available); and the choices
that it printed, with sizes as total data. The table and the communicators are independent of each other.
"""

import json
import re
from pathlib import Path

import pytest

from forestcoll.algorithms.generate import problem_of
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.demand.collective import UNROOTED, Collective
from forestcoll.nccl.choice import sources
from forestcoll.nccl.choice.host import host_files
from forestcoll.nccl.choice.sources import nccl_table
from forestcoll.nccl.choice.stored import VERSIONS, key_of, stored
from forestcoll.nccl.choice.table import PROTOCOLS, Entry, Key, Table
from forestcoll.topology.importers.reading import import_topology
from nccl_tables import line_of
from refusal import refusal

JOBS = json.loads((Path(__file__).parent / "jobs.json").read_text())
UNKNOWN = (
    "the network is no NVIDIA machine that is known; import a dump of NCCL (NCCL_TOPO_DUMP_FILE) and change that, or "
    "name a machine such as dgx-a100"
)
KNOWN_CHANNELS = {("2.30.7", "PAT")}
"""What uses other numbers of channels than the rule says."""


def table_of(job: str) -> Table:
    found = JOBS[job]
    entries = {Key(Collective(each[0]), *each[1:3]): Entry(*each[3:]) for each in found["entries"]}
    capability, hosts, ranks = found["capability"], found["hosts"], found["ranks"]
    return Table(found["version"], job, capability, hosts, ranks, found["channels"], entries)


def problem(spec: str) -> Problem:
    return problem_of(spec, "allreduce")


@pytest.mark.parametrize("job", [job for job, found in JOBS.items() if found["costs"]])
def test_times_are_those_that_nccl_gave_to_a_tuner(job: str) -> None:
    table = table_of(job)
    for name, size, algorithm, *times in JOBS[job]["costs"]:
        for protocol, time in zip(PROTOCOLS, times, strict=True):
            key = Key(Collective(name), algorithm, protocol)
            assert (key in table.entries) == (time >= 0)
            if time >= 0:
                assert f"{table.microseconds(key, size):.4g}" == f"{time:.4g}", (key, size)


@pytest.mark.parametrize("job", [job for job, found in JOBS.items() if found["choices"]])
def test_choices_are_those_that_nccl_printed(job: str) -> None:
    table = table_of(job)
    for name, size, algorithm, protocol, channels in JOBS[job]["choices"]:
        choice = table.choice(Collective(name), size)
        assert choice is not None
        assert (choice.algorithm, choice.protocol) == (algorithm, protocol), (name, size)
        if (table.version, algorithm) not in KNOWN_CHANNELS:
            assert choice.channels == channels, (name, size)


def test_enough_shapes_are_compared() -> None:
    printed = [job for job, found in JOBS.items() if found["choices"]]
    assert len({(JOBS[job]["version"], JOBS[job]["hosts"], JOBS[job]["ranks"]) for job in printed}) >= 8


def test_the_bandwidth_of_the_network_limits_an_entry() -> None:
    table = table_of("cost-230-4x2")
    key = Key(Collective.ALLGATHER, "RING", "SIMPLE")
    bandwidth = table.entries[key].bandwidth
    assert table.microseconds(key, 2**30, most=2 * bandwidth) == table.microseconds(key, 2**30)
    assert table.microseconds(key, 2**30, most=bandwidth / 2) == pytest.approx(2 * table.microseconds(key, 2**30), 1e-3)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    "spec",
    [
        "dgx-1:boxes=1",
        "dgx-2:boxes=2",
        "dgx-a100:boxes=4",
        "dgx-a100:boxes=2,pcie=true",
        "hgx-a100-4:boxes=1",
        "dgx-h100:boxes=128,nvls=true",
        "dgx-h200:boxes=3",
        "dgx-b200:boxes=8",
        "cluster:box=dgx-h100,boxes=8,boxes_per_leaf=2,oversubscription=4",
    ],
)
def test_tables_of_machines_are_stored(spec: str, version: str) -> None:
    table = nccl_table(problem(spec), version)
    assert (table.version, table.ranks) == (version, len(problem(spec).members))
    for collective in UNROOTED:
        times = [table.choice(collective, 2**power) for power in range(3, 33)]
        found = [each.microseconds for each in times if each is not None]
        assert len(found) == len(times)
        assert found == sorted(found)


def test_a_stored_line_is_read_as_it_was_written() -> None:
    host, hosts = host_files(problem("dgx-h100:boxes=4"))
    table = stored(host, hosts, "2.30.7")
    assert table is not None
    line = json.loads(line_of("dgx-h100", host, [table]))
    assert (line["key"], line["hosts"], line["versions"]) == (key_of(host), 4, ["2.30.7"])
    assert sum(len(name.split()[0].split("+")) for name in line["entries"]) == len(table.entries)


def test_hopper_hosts_use_nvls_only_if_the_switch_can() -> None:
    algorithms = []
    for spec in ("dgx-h100:boxes=4", "dgx-h100:boxes=4,nvls=true"):
        choice = nccl_table(problem(spec), "2.32").choice(Collective.ALLREDUCE, 2**26)
        algorithms.append(None if choice is None else choice.algorithm)
    assert algorithms == ["RING", "NVLS_TREE"]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("mi300x", UNKNOWN),
        ("torus:dims=4x4", "some compute nodes are in no box; the algorithm needs the node attribute 'box'"),
        ("dgx-h100:boxes=17", "no table of NCCL 2.32.3 for 17 such hosts is stored; name a libnccl.so.2 by --nccl"),
        ("gb200-nvl72", "the hosts of a rack share NVLink, and NCCL's table of such a job is not known"),
    ],
)
def test_a_table_that_is_not_known_is_explained(spec: str, message: str) -> None:
    with pytest.raises(DoesNotApplyError) as raised:
        nccl_table(problem(spec))
    assert str(raised.value) == message


def test_hosts_with_different_numbers_of_gpus_have_no_table() -> None:
    network = problem("dgx-h100:boxes=2").topology.without("b0/gpu0")
    with pytest.raises(DoesNotApplyError, match="hosts have different numbers of GPUs"):
        nccl_table(problem_of(network, "allreduce"))


def test_a_dump_of_nccl_keeps_its_elements(tmp_path: Path) -> None:
    [text] = host_files(problem("dgx-a100:boxes=2"))[0].texts
    dump = re.sub(r' (rail|plane)="\d+"', "", text).replace('link_width="16"', 'link_width="8"')
    (tmp_path / "node.xml").write_text(dump)
    imported = import_topology(tmp_path / "node.xml", hosts=2).topology
    files, hosts = host_files(problem_of(imported, "allreduce"))
    assert (hosts, files.gpus, files.capability, files.is_amd) == (2, 8, 80, True)
    assert files.texts == (text.replace('link_width="16"', 'link_width="8"'),)


def test_ranks_are_in_the_order_of_the_numbers_of_gpus(tmp_path: Path) -> None:
    [text] = host_files(problem("dgx-h100:boxes=1"))[0].texts
    swapped = text.replace('dev="0"', 'dev="x"').replace('dev="7"', 'dev="0"').replace('dev="x"', 'dev="7"')
    (tmp_path / "node.xml").write_text(swapped)
    [read] = host_files(problem_of(import_topology(tmp_path / "node.xml").topology, "allreduce"))[0].texts
    assert re.findall(r'<gpu dev="(\d)" rank="(\d)"', read) == [(each, each) for each in "71234560"]


def test_a_host_with_a_lost_nic_is_another_kind() -> None:
    network = problem("dgx-h100:boxes=4").topology.without("b0/gpu0--ib")
    files, hosts = host_files(problem_of(network, "allreduce"))
    assert (hosts, [text.count("<net ") for text in files.texts]) == (4, [7, 8])


def test_an_unknown_version_is_refused() -> None:
    message = refusal(lambda: nccl_table(problem("dgx-h100"), "2.19"))
    assert message.startswith("nccl is '2.19'; tables are stored of 2.28.9, 2.30.7, 2.32.3; or give the path")


def test_an_installed_library_that_cannot_be_asked_is_passed_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    library = tmp_path / "libnccl.so.2"
    library.write_text("no library")
    monkeypatch.delenv("FORESTCOLL_NCCL")
    monkeypatch.setattr(sources, "installed", lambda: library)
    assert nccl_table(problem("dgx-h100")).source == "NCCL 2.32.3 (stored table)"
    with pytest.raises(DoesNotApplyError, match=r"17 such hosts is stored.*libnccl.so.2: file too short"):
        nccl_table(problem("dgx-h100:boxes=17"))
