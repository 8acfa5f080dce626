"""Schedules and libraries on emulated networks, against the proven bound.

The engine runs the optimal schedules, rings and the two-level forest; gloo and MPICH run their own collectives.

    python benchmarks/fabric.py [--all] [--networks 2x4,4x8] [--runs 5] [--sizes 1,16] [--output build/fabric]

Needs root on Linux, and iproute2 (see `forestcoll emulate`). Each time is the median of some runs, one after the other,
on the slowest rank. Data of each schedule is checked. Writes results.json, table.md and picture.svg.
"""

import argparse
import importlib.util
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from forestcoll.demand.collective import Collective
from forestcoll.runtime.emulation.requirements import missing
from forestcoll.schedule.files import write_schedule
from forestcoll.topology import write_topology

sys.path.append(str(Path(__file__).parents[1] / "tests" / "common"))
from fabric_networks import FABRICS, MIB, Fabric
from fabric_picture import draw
from fabric_schedules import METHODS
from fabric_table import Result, table

_COLLECTIVES = (Collective.ALLGATHER, Collective.ALLREDUCE)
_MODES = ("ddp", "fsdp")
_LIMIT = 1800


@dataclass(frozen=True)
class Session:
    """How results are made.

    Attributes:
        folder: where files are written.
        runs: how many runs each figure is the median of.
        sizes: of the data, in bytes, with which all methods are measured; none for those of the network, of which
            libraries and competitors have the first.
    """

    folder: Path
    runs: int
    sizes: tuple[int, ...] = ()

    def measure(self, fabric: Fabric) -> list[Result]:
        """Return the results of a network: schedules, then gloo and MPICH where they are installed."""
        files = self._files(fabric)
        ours = [file for file in files if file.name.startswith("forestcoll")]
        has_gloo, has_mpi = importlib.util.find_spec("torch") is not None, _has_mpi()
        found: list[Result] = []
        for size in self.sizes or fabric.sizes[:1]:
            found += self._bench(fabric, files, size, library="gloo" if has_gloo else "none")
            if has_mpi:
                found += [each for each in self._bench(fabric, ours, size, library="mpi") if each.method == "MPICH"]
        for size in () if self.sizes else fabric.sizes[1:]:
            found += self._bench(fabric, ours, size, library="none")
        return found

    def train(self, fabric: Fabric) -> list[Result]:
        """Return the times of iterations of training, with gloo and, where it is there, with forestcoll's backend."""
        has_backend = importlib.util.find_spec("forestcoll.torch") is not None
        backends = ["gloo", *["forestcoll"] * has_backend]
        if not has_backend:
            print("training: no backend forestcoll.torch in this version; gloo only", file=sys.stderr)
        script = Path(__file__).parent / "fabric_training.py"
        found = []
        for mode in _MODES:
            for backend in backends:
                words = [sys.executable, str(script), "--backend", backend, "--mode", mode, "--steps", str(self.runs)]
                document = json.loads(self._emulated(fabric, words))
                name, size = f"{mode} step", int(document["bytes"])
                found.append(Result(fabric.name, name, size, backend, document["seconds"], None, document["loss"]))
        return found

    def _files(self, fabric: Fabric) -> list[Path]:
        folder = self.folder / fabric.name
        folder.mkdir(parents=True, exist_ok=True)
        write_topology(fabric.topology, folder / "topology.json")
        files = []
        for collective in _COLLECTIVES:
            for name, make in METHODS.items():
                files.append(folder / f"{name}.{collective.value}.json")
                write_schedule(make(fabric, collective), files[-1])
        return files

    def _bench(self, fabric: Fabric, files: Iterable[Path], size: int, *, library: str) -> list[Result]:
        runs = "1" if library == "mpi" else str(self.runs)  # with MPICH, only its own collectives are of interest
        words = [sys.executable, "-m", "forestcoll", "bench", "-b", str(size), "-e", str(size), "-n", runs]
        words += [word for file in files for word in ("--schedule", str(file))]
        words += ["--library", library, "--library-iters", str(self.runs), "--no-in-place", "--json"]
        launcher = ["--launcher", f"{_mpirun()} -n {len(fabric.topology.compute)}"] if library == "mpi" else []
        document = json.loads(self._emulated(fabric, words, *launcher))
        return list(_results(fabric, document))

    def _emulated(self, fabric: Fabric, words: Sequence[str], *options: str) -> str:
        network = str(self.folder / fabric.name / "topology.json")
        command = [sys.executable, "-m", "forestcoll", "emulate", network, *options, "--", *words]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=_LIMIT, check=False)
        if done.returncode != 0:
            sys.exit(f"fabric: {fabric.name}: exit status {done.returncode}")
        return done.stdout


def _results(fabric: Fabric, document: dict[str, object]) -> Iterable[Result]:
    rows, seen = document["rows"], set()
    assert isinstance(rows, list)  # noqa: S101 (our own output)
    for row in rows:
        name, bound = str(row["schedule"]).partition(".")[0], _bytes_per_second(row["bound_algbw"])
        if row["wrong"]:
            sys.exit(f"fabric: {fabric.name}: {row['wrong']} wrong elements in {row['schedule']}")
        yield Result(fabric.name, row["collective"], row["size"], name, _seconds(row["times_us"]), bound)
        if row["library_times_us"] is not None and row["collective"] not in seen:
            library = str(document["library"])
            yield Result(fabric.name, row["collective"], row["size"], library, _seconds(row["library_times_us"]), bound)
        seen.add(row["collective"])


def _bytes_per_second(megabits: object) -> float:
    numerator, _, denominator = str(megabits).partition("/")
    return int(numerator) / int(denominator or 1) * 125_000


def _seconds(microseconds: Sequence[float]) -> list[float]:
    return [each / 1e6 for each in microseconds]


def _mpirun() -> str | None:
    beside = str(Path(sys.executable).parent)
    return shutil.which("mpirun", path=os.pathsep.join([beside, os.environ.get("PATH", "")]))


def _has_mpi() -> bool:
    found = importlib.util.find_spec("mpi4py") is not None and _mpirun() is not None
    if not found:
        print("MPICH: not measured: mpi4py or mpirun is not installed", file=sys.stderr)
    return found


def main() -> None:
    """Measure, and write the table and the picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="all networks, and iterations of training")
    parser.add_argument("--networks", help="names of networks, separated by commas")
    parser.add_argument("--no-training", action="store_true", help="with --all: without iterations of training")
    parser.add_argument("--runs", type=int, default=5, help="runs of each figure (default: 5)")
    parser.add_argument("--sizes", help="measure all methods with so many MiB each, such as 1,16 (default: one size)")
    parser.add_argument("--output", type=Path, default=Path("build/fabric"))
    options = parser.parse_args()
    if (problem := missing()) is not None:
        print(f"fabric: nothing is measured: {problem}", file=sys.stderr)
        return
    names = (
        options.networks.split(",")
        if options.networks
        else [each.name for each in FABRICS[: None if options.all else 1]]
    )
    sizes = tuple(int(each) * MIB for each in options.sizes.split(",")) if options.sizes else ()
    session, results, begin = Session(options.output.resolve(), options.runs, sizes), [], time.monotonic()
    for fabric in FABRICS:
        if fabric.name in names:
            print(f"{fabric.name}: {fabric.title}", file=sys.stderr)
            results += session.measure(fabric)
            write(results, options.output)
    if options.all and not options.no_training and importlib.util.find_spec("torch") is not None:
        results += session.train(FABRICS[0])
        write(results, options.output)
    print(table(results))
    print(f"{time.monotonic() - begin:.0f} s; load average {os.getloadavg()[0]:.1f}; files in {options.output}")


def write(results: Sequence[Result], folder: Path) -> None:
    """Write all results so far."""
    load = f"load average {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores"
    documents = [asdict(each) | {"median": statistics.median(each.seconds), "share": each.share} for each in results]
    (folder / "results.json").write_text(json.dumps({"machine": load, "results": documents}, indent=1) + "\n")
    (folder / "table.md").write_text(f"{table(results)}\n\n{load}\n")
    if importlib.util.find_spec("matplotlib") is None:
        print("picture.svg: not drawn: matplotlib is not installed (extra pictures)", file=sys.stderr)
        return
    draw(results, folder / "picture.svg")


if __name__ == "__main__":
    main()
