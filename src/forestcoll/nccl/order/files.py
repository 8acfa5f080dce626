"""Writes an order of ranks: one line a rank, or as launchers read it.

| format | a line | used by |
| --- | --- | --- |
| `ranks` | host and compute node, for each rank | people and scripts |
| `hostfile` | `HOST slots=8`, for each host | `mpirun --hostfile FILE` of Open MPI |
| `rankfile` | `rank 0=HOST slot=0`, for each rank; slots are numbered in each host | `mpirun --rankfile FILE` |
| `slurm` | the host, for each rank | `SLURM_HOSTFILE=FILE srun --distribution=arbitrary` |
"""

from collections.abc import Iterator

from forestcoll.base.errors import InputError, shown
from forestcoll.base.files import PathLike, as_path, write_text
from forestcoll.nccl.order.rank_order import RankOrder

FORMATS = ("ranks", "hostfile", "rankfile", "slurm")
"""The formats, the default first."""

COMMANDS = {
    "hostfile": "mpirun --hostfile {}",
    "rankfile": "mpirun --rankfile {}",
    "slurm": "SLURM_HOSTFILE={} srun --distribution=arbitrary",
}
"""How a launcher is told the file of each format."""


def write_order(order: RankOrder, file: PathLike, to: str = FORMATS[0]) -> None:
    """Write an order to a file.

    Args:
        order: the order.
        file: the file; `-` is standard output.
        to: one of `FORMATS`.

    Raises:
        InputError: there is no such format, a name has a blank or a control character, or the file cannot be written.
    """
    write_text(as_path(file), list(order_lines(order, to)))


def order_lines(order: RankOrder, to: str = FORMATS[0]) -> Iterator[str]:
    """Yield the lines of a file; see `write_order`.

    Example:
        >>> from forestcoll.nccl.order.rank_order import rank_order
        >>> print(*order_lines(rank_order("dgx-a100:boxes=2"), "hostfile"), sep="")
        b0 slots=8
        b1 slots=8
        <BLANKLINE>
    """
    if to not in FORMATS:
        raise InputError(f"there is no format {shown(to)}; use {', '.join(FORMATS)}")
    rank = 0
    for host, members in order.hosts:
        _check(host)
        if to == "hostfile":
            yield f"{host} slots={len(members)}\n"
            continue
        for slot, node in enumerate(members):
            gpu = str(order.topology.nodes[node].id)
            _check(gpu)
            lines = {
                "ranks": f"{host} {gpu}",
                "rankfile": f"rank {rank}={host} slot={slot}",
                "slurm": host,
            }
            yield f"{lines[to]}\n"
            rank += 1


def _check(name: str) -> None:
    if not name.isprintable() or len(name.split()) != 1 or "=" in name:
        raise InputError(f"{shown(name)}: blanks, = and control characters are no part of names in the file; rename it")
