"""What was measured on a machine: which way is fastest for each collective and size (`forestcoll.cuda/1`)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from forestcoll.base.errors import InputError, shown, unknown_name
from forestcoll.base.file_kinds import CUDA_TABLE, check_kind
from forestcoll.base.files import read_document
from forestcoll.base.json_parts import integer_of, list_of, name_of, number_of, object_of, require, text_of
from forestcoll.demand.collective import Collective
from forestcoll.topology import Topology
from forestcoll.topology.hashing import topology_hash

FORMAT = "forestcoll.cuda/1"

INNER, TWO_LEVEL, SLOTS = "nccl", "two-level", "slots"

PATHS: Sequence[str] = (INNER, TWO_LEVEL, SLOTS)
"""The ways that a table may name; `nccl` stands for the inner group."""


@dataclass(frozen=True, slots=True)
class MeasuredWay:
    """One way of a collective for data of one size.

    Attributes:
        path: `nccl`, `two-level` or `slots`.
        chunks: S; 0 for the inner group.
        time_us: the median of the rounds, of the slowest rank.
        algbw: M / time, in the unit of the topology.
        busbw: as nccl-tests defines it.
        share: of the bound of algbw; 0 if none is known.
        wrong: how many elements were wrong, on all ranks.
    """

    path: str
    chunks: int
    time_us: float
    algbw: float
    busbw: float
    share: float
    wrong: int


@dataclass(frozen=True, slots=True)
class MeasuredSize:
    """All ways of a collective for data of one size.

    Attributes:
        collective: which one.
        size: the bytes of all data, M.
        ways: those that ran.
    """

    collective: Collective
    size: int
    ways: tuple[MeasuredWay, ...]

    @property
    def best(self) -> MeasuredWay | None:
        """The fastest way whose elements were all right; None if there is none."""
        return min((way for way in self.ways if not way.wrong), key=lambda way: way.time_us, default=None)


@dataclass(frozen=True, slots=True)
class CudaTable:
    """What was measured on a machine.

    Attributes:
        topology: the network.
        device: what ran it: the GPU, and the versions of torch and of its library.
        rows: by collective and size.
    """

    topology: Topology
    device: str
    rows: tuple[MeasuredSize, ...]

    @property
    def paths(self) -> frozenset[str]:
        """The paths that are the best somewhere."""
        return frozenset(row.best.path for row in self.rows if row.best is not None)

    def best(self, collective: Collective, size: int) -> MeasuredWay | None:
        """Return the best way for the least measured size that is not below `size`, else for the greatest."""
        rows = sorted((row for row in self.rows if row.collective is collective), key=lambda row: row.size)
        row = next((row for row in rows if size <= row.size), rows[-1] if rows else None)
        return None if row is None else row.best

    def to_document(self) -> dict[str, object]:
        """Return it as a JSON object; `read_cuda_table` reads it."""
        return {
            "format": FORMAT,
            "topology": self.topology.name,
            "topology_hash": topology_hash(self.topology),
            "ranks": len(self.topology.compute),
            "unit": self.topology.bandwidth_unit,
            "device": self.device,
            "rows": [
                {"collective": row.collective.value, "size": row.size, "ways": [asdict(way) for way in row.ways]}
                for row in self.rows
            ],
        }


def read_cuda_table(path: Path, topology: Topology) -> CudaTable:
    """Return the table in a file.

    Args:
        path: the file, which `forestcoll bench --cuda --write-table` wrote.
        topology: the network that it must be for.

    Raises:
        InputError: it cannot be read, or is for another network.
    """
    return cuda_table_of(read_document(path), topology, str(path))


def cuda_table_of(document: Mapping[str, object], topology: Topology, where: str) -> CudaTable:
    """Return the table in a JSON object; as `read_cuda_table`."""
    check_kind(document, CUDA_TABLE, where)
    require(document, ("format", "topology_hash", "rows"), where, "a table for CUDA tensors")
    if document["format"] != FORMAT:
        raise InputError(f"{where}: format is {shown(document['format'])}; expected {FORMAT!r}")
    if document["topology_hash"] != topology_hash(topology):
        raise InputError(f"{where}: the table is for another topology than {topology.name}; measure this one")
    rows = list_of(document["rows"], f"{where}: rows")
    device = str(document.get("device", ""))
    return CudaTable(topology, device, tuple(_row(each, f"{where}: rows[{n}]") for n, each in enumerate(rows)))


def _row(value: object, where: str) -> MeasuredSize:
    row = object_of(value, where)
    require(row, ("collective", "size", "ways"), where, "a row")
    ways = list_of(row["ways"], f"{where}.ways")
    return MeasuredSize(
        name_of(row["collective"], Collective, f"{where}.collective"),
        integer_of(row["size"], f"{where}.size", least=0),
        tuple(_way(object_of(each, f"{where}.ways[{n}]"), f"{where}.ways[{n}]") for n, each in enumerate(ways)),
    )


def _way(way: Mapping[str, object], where: str) -> MeasuredWay:
    require(way, ("path", "chunks", "time_us", "wrong"), where, "a way")
    path = text_of(way["path"], f"{where}.path")
    if path not in PATHS:
        raise unknown_name(f"{where}.path is {shown(path)}", path, PATHS, "expected one of")
    algbw, busbw, share = (number_of(way.get(key, 0), f"{where}.{key}") for key in ("algbw", "busbw", "share"))
    time = number_of(way["time_us"], f"{where}.time_us")
    chunks, wrong = (integer_of(way[key], f"{where}.{key}", least=0) for key in ("chunks", "wrong"))
    return MeasuredWay(path, chunks, time, algbw, busbw, share, wrong)
