"""Other libraries' collectives on the same processes, to compare with: gloo by torch, and MPI by mpi4py."""

import importlib.util
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective
from forestcoll.measurement.bench.operations import Case
from forestcoll.measurement.bench.patterns import empty
from forestcoll.runtime.engine.elements import ElementType, ReduceOp
from forestcoll.runtime.launch import Launch, torch_store


class Library(ABC):
    """A library that runs collectives.

    Attributes:
        name: what tables call it.

    Args:
        launch: this process among the others.
        members: the ranks that take part.
    """

    name: str

    def __init__(self, launch: Launch, members: tuple[int, ...]) -> None:
        self._members, self._takes_part = members, launch.rank in members

    def call(self, case: Case) -> Callable[[], object] | None:
        """Return a function that runs the collective to its end on this rank; None if the library cannot."""
        if not self._takes_part:
            return lambda: None
        is_known = case.is_even and case.plan.collective not in {Collective.GATHER, Collective.SCATTER}
        return self._call(case) if is_known and self._reduces(case.op, case.element) else None

    @abstractmethod
    def _reduces(self, op: ReduceOp, element: ElementType) -> bool:
        """Return whether the library has the reduction for elements of this type."""

    @abstractmethod
    def _call(self, case: Case) -> Callable[[], object]:
        """Return a function that runs the collective; this rank takes part, and the library can."""

    @abstractmethod
    def close(self) -> None:
        """Leave the others."""


def library_name(launch: Launch, wanted: str) -> str | None:
    """Return which library this process can compare with, as `library` takes it; None for none.

    Raises:
        InputError: the wanted library is not installed.
    """
    has_torch = importlib.util.find_spec("torch") is not None
    has_mpi = importlib.util.find_spec("mpi4py") is not None and launch.launcher == "mpi"
    if wanted == "gloo" and not has_torch:
        raise InputError("bench: gloo is part of torch, which is not installed; install torch, or use --library none")
    if wanted == "mpi" and not has_mpi:
        raise InputError("bench: --library mpi needs mpirun and mpi4py (pip install 'forestcoll[mpi]')")
    if wanted != "auto":
        return None if wanted == "none" else wanted
    if launch.launcher == "mpi":
        return "mpi" if has_mpi else None
    return "gloo" if has_torch else None


def library(name: str | None, launch: Launch, members: tuple[int, ...]) -> Library | None:
    """Return the library called `name` among the ranks `members`; every rank must call this."""
    if name == "gloo":
        return Gloo(launch, members)
    return Mpi(launch, members) if name == "mpi" else None


def torch_function(name: str, earlier: str) -> Callable[..., object]:
    """Return a function of `torch.distributed` by its name since torch 2.13, or by its earlier one."""
    import torch.distributed as dist

    found: Callable[..., object] = getattr(dist, name, None) or getattr(dist, earlier)
    return found


class Gloo(Library):
    """gloo, as `torch.distributed` has it."""

    name = "gloo"

    def __init__(self, launch: Launch, members: tuple[int, ...]) -> None:
        from datetime import timedelta

        import torch.distributed as dist

        super().__init__(launch, members)
        self._dist: Any = dist
        limit = timedelta(seconds=max(60.0, launch.timeout))
        store = torch_store(launch, "gloo", limit)
        dist.init_process_group("gloo", store=store, rank=launch.rank, world_size=launch.size, timeout=limit)
        self._group = dist.new_group(list(members))

    def _reduces(self, op: ReduceOp, element: ElementType) -> bool:
        return op is not ReduceOp.PREMUL_SUM and (op is not ReduceOp.AVG or element.is_float)

    def _call(self, case: Case) -> Callable[[], object]:
        import torch

        dist, group = self._dist, self._group
        op = getattr(dist.ReduceOp, "PRODUCT" if case.op is ReduceOp.PROD else case.op.name)
        kind = getattr(torch, case.element.dtype_name)
        whole = torch.zeros(case.count, dtype=kind)
        if case.plan.collective is Collective.ALL_TO_ALL:
            out = torch.empty_like(whole)
            return lambda: dist.all_to_all_single(out, whole, group=group)
        if case.plan.collective.has_shards:
            part = torch.zeros(case.counts[0], dtype=kind)
            gather = torch_function("all_gather_single", "all_gather_into_tensor")
            scatter = torch_function("reduce_scatter_single", "reduce_scatter_tensor")
            if case.plan.collective is Collective.ALLGATHER:
                return lambda: gather(whole, part, group=group)
            return lambda: scatter(part, whole, op=op, group=group)
        if case.plan.collective is Collective.ALLREDUCE:
            return lambda: dist.all_reduce(whole, op=op, group=group)
        if case.plan.collective is Collective.BROADCAST:
            return lambda: dist.broadcast(whole, src=case.plan.root, group=group)
        return lambda: dist.reduce(whole, dst=case.plan.root, op=op, group=group)

    def close(self) -> None:
        """Leave the others."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._dist.destroy_process_group()


class Mpi(Library):
    """The MPI that started the processes."""

    def __init__(self, launch: Launch, members: tuple[int, ...]) -> None:
        from mpi4py import MPI

        super().__init__(launch, members)
        self._mpi: Any = MPI
        self._comm: Any = MPI.COMM_WORLD.Split(int(self._takes_part), launch.rank)
        self.name = "MPICH" if "MPICH" in MPI.Get_library_version() else MPI.get_vendor()[0]

    def _reduces(self, op: ReduceOp, element: ElementType) -> bool:
        return element not in {ElementType.F16, ElementType.BF16} and op not in {ReduceOp.AVG, ReduceOp.PREMUL_SUM}

    def _call(self, case: Case) -> Callable[[], object]:
        comm = self._comm
        op = getattr(self._mpi, case.op.value.upper())
        whole = empty(case.element, case.count)
        root = 0 if case.plan.root is None else self._members.index(case.plan.root)
        if case.plan.collective.has_shards:
            part = empty(case.element, case.counts[0])
            if case.plan.collective is Collective.ALLGATHER:
                return lambda: comm.Allgather(part, whole)
            return lambda: comm.Reduce_scatter_block(whole, part, op)
        if case.plan.collective is Collective.BROADCAST:
            return lambda: comm.Bcast(whole, root)
        out = np.empty_like(whole)
        if case.plan.collective is Collective.ALL_TO_ALL:
            return lambda: comm.Alltoall(whole, out)
        if case.plan.collective is Collective.ALLREDUCE:
            return lambda: comm.Allreduce(whole, out, op)
        return lambda: comm.Reduce(whole, out, op, root)

    def close(self) -> None:
        """Leave the others; mpi4py ends MPI at the end of the process."""
        self._comm.Free()
