"""Runs as processes of their own: entry points, exit statuses, pipes, a terminal, completion, ranks, examples."""

import contextlib
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from recording.inputs import inputs
from recording.running import ROOT, Outputs, run, shown, write_files

MODULE = [sys.executable, "-m", "forestcoll"]
SCRIPT = [str(Path(sys.executable).with_name("forestcoll"))]
SECONDS = 120

LINES = (
    "--version",
    "--help",
    "",
    "optimum ring:nodes=4",
    "optimum ring:nodes=4 --json",
    "optimum none.json",
    "optimum ring:nodes=4 --tres 2",
    "optimum cut.json",
    "optimium",
    "generate ring:nodes=4 -o s.json --json",
    "verify s.json",
    "verify -",
    "generate ring:nodes=4 -o /dev/full",
    "generate ring:nodes=4 -o no/s.json",
    "what-if ring:nodes=4 --fail links --jobs 2",
    "design --nodes 8..9 --degree 4 --jobs 2 --json",
    "bench",
    "probe -o m.json",
)
"""Command lines that run as `python -m forestcoll`."""

COMPLETED = (
    "forestcoll ",
    "forestcoll topolog",
    "forestcoll generate --max",
    "forestcoll --ver",
    "forestcoll optimum ring --collective all",
    "forestcoll generate ring --method ",
    "forestcoll import file --format nvidia",
    "forestcoll optimum dgx",
    "forestcoll verify sched",
    "forestcoll export s.json --to ",
    "forestcoll what-if ring --fail ",
    "forestcoll no-such-command --",
)

ON_A_TERMINAL = (
    "optimum dgx-a100:boxes=2",
    "compare ring:nodes=4 --baselines direct,bruck --sizes 1M",
    "topology",
    "optimum none.json",
    "--help",
)

_RANKS = """
import numpy as np
from concurrent.futures import ThreadPoolExecutor
from forestcoll import generate
from forestcoll.runtime import Communicator, MemoryStore

SCHEDULES = [generate("ring:nodes=3", each) for each in ("allgather", "reduce-scatter", "allreduce")]
SCHEDULES += [generate("ring:nodes=3", Demand(each, root=1)) for each in ("broadcast", "reduce")]
SCHEDULES += [generate("ring:nodes=3", "all-to-all")]
STORE = MemoryStore()


def rank(number):
    with Communicator(SCHEDULES, rank=number, store=STORE, timeout=60) as group:
        data = np.arange(12, dtype=np.float32) * (number + 1)
        yield_ = [
            group.allreduce(data).wait(),
            group.allreduce(data, op="max").wait(),
            group.allgather(data[:4]).wait(),
            group.reduce_scatter(data).wait(),
            group.broadcast(data.copy(), root=1).wait(),
            group.reduce(data, root=1).wait(),
            group.all_to_all(data).wait(),
        ]
        return [None if each is None else each.tolist() for each in yield_]


with ThreadPoolExecutor(3) as pool:
    for number, results in enumerate(pool.map(rank, range(3))):
        for each in results:
            print(number, each)
"""

_IMPORTS = """
import sys
sys.argv[0] = "forestcoll"
from forestcoll.cli import main
try:
    main()
finally:
    heavy = {"click", "numpy", "rich", "networkx", "highspy", "yaml", "google", "resvg_py", "torch"}
    print(sorted({name.partition(".")[0] for name in sys.modules} & heavy), file=sys.stderr)
"""

_WITHOUT_TORCH = """
import sys
sys.modules["torch"] = None
import forestcoll
try:
    import forestcoll.torch
except forestcoll.InputError as error:
    print(error)
"""

_CELLS = """
import json, os, sys
names = {}
os.chdir(os.path.dirname(sys.argv[1]))
for cell in json.load(open(sys.argv[1]))["cells"]:
    if cell["cell_type"] == "code":
        exec("".join(cell["source"]), names)
"""

EXAMPLES = (
    "own_network.py schedule.json",
    "compare.py",
    "coding.py",
    "operator.ipynb",
    "researcher.ipynb",
    "trainer.ipynb",
)


def _process(words: list[str], stdin: bytes = b"", **variables: str) -> str:
    done = subprocess.run(
        words, input=stdin, capture_output=True, env=os.environ | variables, timeout=SECONDS, check=False
    )
    return shown(done.returncode, done.stdout.decode(), done.stderr.decode())


def processes() -> Outputs:
    """Yield what command lines show as processes of their own."""
    write_files(inputs())
    for line in LINES:
        yield f"python -m forestcoll {line}", _process([*MODULE, *line.split()])
    yield "forestcoll --version", _process([*SCRIPT, "--version"])
    yield "forestcoll topology", _process([*SCRIPT, "topology", "ring:nodes=3"])
    yield "forestcoll verify - < s.json", _process([*SCRIPT, "verify", "-"], stdin=Path("s.json").read_bytes())
    with Path("/dev/full").open("wb") as full:
        for line in ("optimum ring:nodes=3 --json", "topology", "--version", "--help"):
            done = subprocess.run(
                [*MODULE, *line.split()], stdout=full, stderr=subprocess.PIPE, timeout=SECONDS, check=False
            )
            yield f"{line} > /dev/full", shown(done.returncode, "", done.stderr.decode())


def imports() -> Outputs:
    """Yield which modules of other packages a command loads: a start must not become slow."""
    for line in ("--help", "optimum --help", "topology", "optimum ring:nodes=4", "generate ring:nodes=4"):
        yield line, _process([sys.executable, "-c", _IMPORTS, *line.split()])


def completion() -> Outputs:
    """Yield the scripts for shells and the completions of lines."""
    for shell in ("bash", "zsh", "fish"):
        yield f"script for {shell}", _process(MODULE, _FORESTCOLL_COMPLETE=f"{shell}_source")
    for line in COMPLETED:
        words = line.split()
        place = str(len(words) - (not line.endswith(" ")))
        variables = {"COMP_WORDS": line, "COMP_CWORD": place, "_FORESTCOLL_COMPLETE": "bash_complete"}
        yield line, run(variables=variables)


def terminal() -> Outputs:
    """Yield what a terminal shows on standard output, with its colours."""
    for line in ON_A_TERMINAL:
        ours, its_end = pty.openpty()
        variables = os.environ | {"TERM": "xterm-256color", "COLUMNS": "90"}
        with subprocess.Popen(
            [*MODULE, *line.split()], stdin=subprocess.DEVNULL, stdout=its_end, stderr=subprocess.PIPE, env=variables
        ) as started:
            os.close(its_end)
            out = b"".join(_written(ours))
            err = started.stderr.read() if started.stderr is not None else b""
        os.close(ours)
        yield line, shown(started.returncode, out.decode(), err.decode())


def _written(terminal_end: int) -> Iterator[bytes]:
    """Yield what is written on a terminal; Linux raises an error when the other end is closed."""
    with contextlib.suppress(OSError):
        while part := os.read(terminal_end, 65536):
            yield part


def ranks() -> Outputs:
    """Yield the results of operations between three ranks."""
    yield "results", _process([sys.executable, "-c", _RANKS])


def torch() -> Outputs:
    """Yield what the import of `forestcoll.torch` says where PyTorch is missing; here it may be installed."""
    yield "import", _process([sys.executable, "-c", _WITHOUT_TORCH])


def emulation() -> Outputs:
    """Yield what ranks on an emulated network print, sorted, and a table of `bench`, or why there is no emulation."""
    run_of = ["emulate", "ring:nodes=3", "--scale", "100Mbit=1", "--"]
    printed = _process([*MODULE, *run_of, "sh", "-c", "echo rank $RANK of $WORLD_SIZE"])
    yield "ranks", "\n".join(sorted(printed.splitlines())) + "\n"
    measured = ["bench", "-b", "256K", "-e", "512K", "-f", "2", "--library", "none"]
    yield "bench", _process([*MODULE, "emulate", "ring:nodes=2", "--scale", "200Mbit=1", "--", *MODULE, *measured])


def examples() -> Outputs:
    """Yield what the programs and the notebooks of the examples print."""
    for line in EXAMPLES:
        name, *more = line.split()
        path = str(ROOT / "examples" / name)
        words = ["-c", _CELLS, path] if name.endswith(".ipynb") else [path, *more]
        yield name, _process([sys.executable, *words])


def python_of_documents() -> list[str]:
    """Return the names of documents with programs that need only public names."""
    return ["README.md", "docs/python.md", "docs/all-to-all.md", "docs/groups.md", "docs/pieces.md", "docs/what-if.md"]


def document(name: str) -> Outputs:
    """Yield whether the program in a document runs: its assertions hold."""
    program = "\n".join(re.findall(r"^```python\n(.*?)^```$", (ROOT / name).read_text(), re.DOTALL | re.MULTILINE))
    yield "program", _process([sys.executable, "-c", program])


def environment() -> dict[str, str | None]:
    """Return the versions on which outputs depend."""
    from importlib import metadata

    names = ("click", "highspy", "networkx", "numpy", "protobuf", "pyyaml", "resvg-py", "rich", "torch")
    found: dict[str, str | None] = {"python": sys.version.split()[0]}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = None
    return found
