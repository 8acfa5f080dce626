"""Where NCCL's table of a job comes from: a given or an installed library, or the stored tables."""

import os
import re
from pathlib import Path

from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.base.errors import InputError, shown
from forestcoll.base.files import PathLike
from forestcoll.nccl.choice.host import host_files
from forestcoll.nccl.choice.installed import NAME, ask, installed
from forestcoll.nccl.choice.stored import VERSIONS, stored
from forestcoll.nccl.choice.table import Table

_VERSION = re.compile(r"\d+\.\d+(\.\d+)?")


def nccl_table(problem: Problem, nccl: PathLike | None = None) -> Table:
    """Return the tuning table that NCCL makes of a job, with its default environment.

    Args:
        problem: the network, and the GPUs that take part. Their order in the network is that of the ranks.
        nccl: the path of a `libnccl.so.2`, or a version whose stored table is taken. None for what FORESTCOLL_NCCL
            says; without it, for the library that is installed beside this package or in the system, if it can be
            asked; else for the newest stored table.

    Raises:
        InputError: the given library cannot be asked, or no tables of the given version are stored.
        DoesNotApplyError: NCCL's table of this network is not known. The message says why.

    Example:
        >>> from forestcoll.algorithms.generate import problem_of
        >>> from forestcoll.demand.collective import Collective
        >>> table = nccl_table(problem_of("dgx-h100:boxes=4", "allreduce"), "2.30")
        >>> choice = table.choice(Collective.ALLREDUCE, 2**20)
        >>> choice.algorithm, choice.protocol, choice.channels, round(choice.microseconds, 1)
        ('TREE', 'LL128', 16, 83.2)
    """
    nccl = os.fspath(nccl or os.environ.get("FORESTCOLL_NCCL", ""))
    version = _known_version(nccl) if nccl and _VERSION.fullmatch(nccl) else None
    host, hosts = host_files(problem)
    if nccl and version is None:
        return ask(Path(nccl), host, hosts)
    reason = ""
    if version is None and (library := installed()) is not None:
        try:
            return ask(library, host, hosts)
        except InputError as error:
            reason = f" ({error})"
    version = version or VERSIONS[-1]
    found = stored(host, hosts, version)
    if found is None:
        where = f"{hosts} such host{'s' * (hosts > 1)}"
        raise DoesNotApplyError(f"no table of NCCL {version} for {where} is stored; name a {NAME} by --nccl{reason}")
    return found


def _known_version(text: str) -> str:
    for each in reversed(VERSIONS):
        if each == text or each.startswith(f"{text}."):
            return each
    raise InputError(f"nccl is {shown(text)}; tables are stored of {', '.join(VERSIONS)}; or give the path of a {NAME}")
