"""How ranks send to each other: torch.distributed (gloo, nccl) or MPI by mpi4py. Nothing waits without a limit."""

import atexit
import importlib.util
import os
import statistics
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from forestcoll.base.errors import CommunicationError, InputError, first_line, shown
from forestcoll.runtime.launch import Launch, torch_store

_SHORT = 8
_SHORT_RUNS = 11
"""The bytes of a short message, and how often one is sent and answered."""

_ANSWER = 1
"""The tag of answers."""

BACKENDS = ("auto", "gloo", "nccl", "mpi")
"""What carries the data."""

Ends = Sequence[tuple[int, int]]
"""Other ranks, each with a number of bytes."""


class Transport(Protocol):
    """Sends between ranks."""

    def meet(self) -> None:
        """Wait until all ranks are here."""

    def exchange(self, receives: Ends, sends: Ends) -> float:
        """Meet, then receive from ranks and send to ranks at the same time.

        A rank that has received a message answers with a short one. So the clock of the sender alone gives the time,
        and it does not matter when the other rank noticed that all have met.

        Returns:
            The seconds from the meeting until all messages that this rank sent were answered.
        """

    def answer_seconds(self, other: int, *, asks: bool) -> float:
        """Exchange short messages with one rank; both call this.

        Returns:
            The seconds from sending a message until the answer of the other rank is there: the median of several.
        """

    def close(self) -> None:
        """Leave the others."""


def backend_name(launch: Launch, wanted: str) -> str:
    """Return the backend that this process can use: `gloo`, `nccl` or `mpi`.

    Raises:
        InputError: the wanted backend is not installed, or none is.
    """
    has_torch = importlib.util.find_spec("torch") is not None
    has_mpi = importlib.util.find_spec("mpi4py") is not None and launch.launcher == "mpi"
    if wanted == "mpi" and not has_mpi:
        raise InputError("probe: --backend mpi needs mpirun and mpi4py (pip install 'forestcoll[mpi]')")
    if wanted in {"gloo", "nccl"} and not has_torch:
        raise InputError(f"probe: {wanted} is part of torch, which is not installed; install torch")
    if wanted == "nccl" and not _has_gpus():
        raise InputError("probe: --backend nccl needs a GPU and a torch that was built for it; use gloo")
    if wanted != "auto":
        return wanted
    if has_mpi:
        return "mpi"
    if not has_torch:
        raise InputError(
            "probe: neither torch nor, under mpirun, mpi4py is installed; install torch, or forestcoll[mpi]"
        )
    return "nccl" if _has_gpus() else "gloo"


def _has_gpus() -> bool:
    import torch

    return bool(torch.distributed.is_nccl_available() and torch.cuda.is_available())


def transport_of(backend: str, launch: Launch) -> Transport:
    """Return the transport of a backend; every rank must call this with the same one."""
    return MpiTransport(launch) if backend == "mpi" else TorchTransport(launch, backend)


class TorchTransport:
    """The sends of torch.distributed.

    Args:
        launch: this process among the others.
        backend: `gloo` or `nccl`.
    """

    def __init__(self, launch: Launch, backend: str) -> None:
        from datetime import timedelta

        import torch
        import torch.distributed as dist

        self._launch, self._torch, self._dist = launch, torch, dist
        self._device: Any = self._own_device() if backend == "nccl" else torch.device("cpu")
        limit = timedelta(seconds=launch.timeout)
        try:
            store: Any = torch_store(launch, "probe", limit)
            dist.init_process_group(backend, store=store, rank=launch.rank, world_size=launch.size, timeout=limit)
        except (RuntimeError, ValueError) as error:
            raise self._failure(error) from None
        self._buffers: dict[tuple[str, int], Any] = {}

    def _own_device(self) -> Any:
        count = self._torch.cuda.device_count()
        number = int(os.environ.get("LOCAL_RANK", self._launch.rank)) % count
        self._torch.cuda.set_device(number)
        return self._torch.device("cuda", number)

    def meet(self) -> None:
        """Wait until all ranks are here."""
        self._guarded(self._meet)

    def _meet(self) -> None:
        self._dist.barrier()
        self._settle()

    def exchange(self, receives: Ends, sends: Ends) -> float:
        """Meet, then receive and send; see `Transport`."""
        return float(self._guarded(lambda: self._exchange(receives, sends)))

    def _exchange(self, receives: Ends, sends: Ends) -> float:
        dist = self._dist
        arriving = [(dist.irecv, rank, self._buffer(f"from {rank}", size)) for rank, size in receives]
        leaving = [(dist.isend, rank, self._buffer("out", size)) for rank, size in sends]
        if self._device.type == "cuda":
            return self._exchange_on_gpus([*arriving, *leaving])
        incoming = [(rank, call(buffer, rank)) for call, rank, buffer in arriving]
        answers = [dist.irecv(self._buffer(f"answer of {rank}", _SHORT), rank, tag=_ANSWER) for rank, _ in sends]
        self._meet()
        begin = time.perf_counter()
        outgoing = [call(buffer, rank) for call, rank, buffer in leaving]
        for rank, work in incoming:
            work.wait()
            outgoing.append(dist.isend(self._buffer("answer", _SHORT), rank, tag=_ANSWER))
        for work in answers:
            work.wait()
        seconds = time.perf_counter() - begin
        for work in outgoing:
            work.wait()
        return seconds

    def _exchange_on_gpus(self, calls: Sequence[tuple[Any, int, Any]]) -> float:
        self._meet()
        begin = time.perf_counter()
        operations = [self._dist.P2POp(call, buffer, rank) for call, rank, buffer in calls]
        for work in self._dist.batch_isend_irecv(operations) if operations else ():
            work.wait()
        self._settle()
        return time.perf_counter() - begin

    def answer_seconds(self, other: int, *, asks: bool) -> float:
        """Exchange short messages; see `Transport`."""
        message = self._buffer("short", _SHORT)
        calls = (self._dist.send, self._dist.recv) if asks else (self._dist.recv, self._dist.send)

        def exchange() -> None:
            for call in calls:
                call(message, other)
            self._settle()

        return statistics.median(float(self._guarded(lambda: _timed(exchange))) for _ in range(_SHORT_RUNS))

    def _settle(self) -> None:
        """Wait until the GPU has done what was started."""
        if self._device.type != "cuda":
            return
        event = self._torch.cuda.Event()
        event.record()
        deadline = time.monotonic() + self._launch.timeout
        while not event.query():
            if time.monotonic() > deadline:
                raise RuntimeError("the GPU did not finish")

    def _buffer(self, name: str, size: int) -> Any:
        """Return memory for a message. All messages that leave share it, and those from one rank."""
        if (name, size) not in self._buffers:
            if size != _SHORT:
                self._buffers = {key: each for key, each in self._buffers.items() if key[1] in {size, _SHORT}}
            self._buffers[name, size] = self._torch.zeros(size, dtype=self._torch.uint8, device=self._device)
        return self._buffers[name, size]

    def _guarded(self, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except RuntimeError as error:
            raise self._failure(error) from None

    def _failure(self, error: Exception) -> CommunicationError:
        return _failure(self._launch, first_line(error))

    def close(self) -> None:
        """Leave the others."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._dist.destroy_process_group()


class MpiTransport:
    """The sends of the MPI that started the processes.

    Args:
        launch: this process among the others.
    """

    def __init__(self, launch: Launch) -> None:
        from mpi4py import MPI

        self._launch = launch
        self._mpi: Any = MPI
        self._comm: Any = MPI.COMM_WORLD.Dup()
        self._out = np.zeros(0, dtype=np.uint8)
        self._in: dict[int, Any] = {}

    def meet(self) -> None:
        """Wait until all ranks are here."""
        self._wait([self._comm.Ibarrier()])

    def exchange(self, receives: Ends, sends: Ends) -> float:
        """Meet, then receive and send; see `Transport`."""
        most = max((size for _, size in sends), default=0)
        if len(self._out) < most:
            self._out = np.zeros(most, dtype=np.uint8)
        incoming = [(rank, self._comm.Irecv(self._room(rank, size), rank)) for rank, size in receives]
        answers = [self._comm.Irecv(np.zeros(_SHORT, dtype=np.uint8), rank, tag=_ANSWER) for rank, _ in sends]
        self.meet()
        begin = time.perf_counter()
        outgoing = [self._comm.Isend(self._out[:size], rank) for rank, size in sends]
        seconds = self._answered(incoming, answers, outgoing) - begin
        self._wait(outgoing)
        return seconds

    def _answered(self, incoming: list[tuple[int, Any]], answers: list[Any], outgoing: list[Any]) -> float:
        """Answer what arrives; return when all answers to this rank were there, and everything had arrived."""
        deadline = time.monotonic() + self._launch.timeout
        answered_at: float | None = None
        while incoming or answered_at is None:
            if answered_at is None and self._mpi.Request.Testall(answers):
                answered_at = time.perf_counter()
            arrived = [rank for rank, request in incoming if request.Test()]
            outgoing += [self._comm.Isend(np.zeros(_SHORT, dtype=np.uint8), rank, tag=_ANSWER) for rank in arrived]
            incoming = [each for each in incoming if each[0] not in arrived]
            self._check_time(deadline)
        return answered_at

    def answer_seconds(self, other: int, *, asks: bool) -> float:
        """Exchange short messages; see `Transport`."""
        message = np.zeros(_SHORT, dtype=np.uint8)
        calls = (self._comm.Isend, self._comm.Irecv) if asks else (self._comm.Irecv, self._comm.Isend)

        def exchange() -> None:
            for call in calls:
                self._wait([call(message, other)])

        return statistics.median(_timed(exchange) for _ in range(_SHORT_RUNS))

    def _room(self, rank: int, size: int) -> Any:
        if rank not in self._in or len(self._in[rank]) != size:
            self._in[rank] = np.zeros(size, dtype=np.uint8)
        return self._in[rank]

    def _wait(self, requests: list[Any]) -> None:
        """Wait for all requests, which make progress together."""
        deadline = time.monotonic() + self._launch.timeout
        while not self._mpi.Request.Testall(requests):
            self._check_time(deadline)

    def _check_time(self, deadline: float) -> None:
        time.sleep(0)  # other ranks may share the processor
        if time.monotonic() > deadline:
            # The other ranks wait in MPI, so that this process could not leave MPI at its end.
            atexit.register(self._comm.Abort, 1)
            raise _failure(self._launch, "a send did not end")

    def close(self) -> None:
        """Leave the others; mpi4py ends MPI at the end of the process."""
        self._comm.Free()


def _timed(call: Callable[[], None]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def _failure(launch: Launch, reason: str) -> CommunicationError:
    return CommunicationError(
        f"probe: rank {launch.rank} cannot reach the other ranks within {launch.timeout:g} s ({shown(reason)}); "
        "see the messages of the other ranks, and FORESTCOLL_TIMEOUT"
    )
