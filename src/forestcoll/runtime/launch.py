"""Who this process is among the others, and where they meet: torchrun, mpirun, emulate, or variables set by hand."""

import importlib
import importlib.util
import json
import os
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from forestcoll.base.errors import CommunicationError, InputError, shown
from forestcoll.runtime.environment import interface_here, launcher_rank, secret_here, timeout_here
from forestcoll.runtime.messages import Deadline
from forestcoll.runtime.store import Store, StoreError, TcpStore
from forestcoll.runtime.torch_store import TorchStore

_PIECE = 2**18
"""Long texts go through the store in pieces of this many bytes."""


@dataclass
class Launch:
    """This process among the others.

    Attributes:
        rank: from 0.
        size: how many processes there are.
        store: where they meet.
        launcher: `torchrun`, `mpi` or `variables`.
        interface: the address of this process that others connect to.
        timeout: how many seconds to wait for another process at most.
        command: the name of the command, which begins messages.
        secret: what all processes must know; None if there is no such thing.
        joining: when all processes must have joined; None for `timeout` seconds after the first wait.
    """

    rank: int
    size: int
    store: Store
    launcher: str
    interface: str
    timeout: float
    command: str = "bench"
    secret: bytes | None = field(default=None, repr=False)
    joining: Deadline | None = None
    _number: int = 0

    def gather(self, value: object) -> list[Any]:
        """Return on rank 0 the values of all ranks, elsewhere nothing; a value is one that JSON has."""
        self._number += 1
        key = f"{self.command}/{self._number}"
        self.store.set(f"{key}/{self.rank}", json.dumps(value).encode())
        if self.rank:
            return []
        return [self._read(f"{key}/{rank}", rank) for rank in range(self.size)]

    def share(self, text: str) -> str:
        """Return the text of rank 0."""
        self._number += 1
        key, data = f"{self.command}/{self._number}", text.encode()
        if self.rank == 0:
            pieces = [data[begin : begin + _PIECE] for begin in range(0, len(data), _PIECE)]
            for number, piece in enumerate(pieces):
                self.store.set(f"{key}/{number}", piece)
            self.store.set(key, str(len(pieces)).encode())
            return text
        count = self._read(key, 0)
        if not isinstance(count, int):
            raise self._not_understood(0)
        data = b"".join(self._fetch(f"{key}/{number}", 0) for number in range(count))
        try:
            return data.decode()
        except UnicodeDecodeError:
            raise self._not_understood(0) from None

    def only_first(self, call: Callable[[], object]) -> None:
        """Call a function on rank 0. If it fails there, all other ranks end without a message.

        Raises:
            ForestcollError: what the function raised, on rank 0.
        """
        if self.rank == 0:
            try:
                call()
            except BaseException:
                self._fail()
                raise
            self.share("")
        elif self.share(""):
            with suppress(CommunicationError):
                self.gather(None)
            raise SystemExit(1)

    def _fail(self) -> None:
        """Let the other ranks know of a failure, and wait until they do: the store ends with this process."""
        with suppress(CommunicationError):
            self.share("failed")
            self.gather(None)

    def wait_for_all(self) -> None:
        """Wait on rank 0 until all ranks have started.

        Raises:
            CommunicationError: a rank did not come in time.
        """
        self._number += 1
        key = f"{self.command}/{self._number}"
        self.store.set(f"{key}/{self.rank}", b"")
        deadline = self.joining or Deadline.after(self.timeout)
        for rank in range(self.size if self.rank == 0 else 0):
            try:
                self.store.get(f"{key}/{rank}", deadline.left(0.1))
            except StoreError:
                raise
            except CommunicationError:
                raise CommunicationError(
                    f"{self.command}: rank {rank} did not come within {self.timeout:g} s; start all {self.size} ranks"
                ) from None

    def meet(self) -> None:
        """Wait until all ranks are here."""
        self.gather(None)
        self.share("")

    def close(self) -> None:
        """Leave, after all ranks have read what they need."""
        self.gather(None)
        if isinstance(self.store, TcpStore):
            self.store.close()

    def _read(self, key: str, rank: int) -> Any:
        try:
            return json.loads(self._fetch(key, rank))
        except (ValueError, RecursionError):  # anybody who reaches the store may write into it
            raise self._not_understood(rank) from None

    def _not_understood(self, rank: int) -> CommunicationError:
        return CommunicationError(
            f"{self.command}: the store has other data than rank {rank} writes; keep other programs away from it, or "
            "give all ranks a secret"
        )

    def _fetch(self, key: str, rank: int) -> bytes:
        try:
            return self.store.get(key, self.timeout)
        except StoreError:
            raise
        except CommunicationError:
            raise CommunicationError(
                f"{self.command}: rank {rank} did not answer rank {self.rank} within {self.timeout:g} s; "
                "see its messages"
            ) from None


def join(*, uses_mpi: bool = True, command: str = "bench") -> Launch:
    """Return this process among those that were started together.

    `FORESTCOLL_INTERFACE` is the address of this process that others connect to, `FORESTCOLL_TIMEOUT` how many seconds
    to wait for another process at most, and `FORESTCOLL_SECRET` what all processes must know; a store of torch does not
    ask for it.

    Args:
        uses_mpi: whether to start MPI under mpirun where mpi4py is installed.
        command: the name of the command that the processes run, which begins messages.

    Raises:
        InputError: the process was not started by a launcher, or its variables are bad.
        CommunicationError: rank 0 is not reached.
    """
    try:
        return _joined(_Asked(timeout_here(), command, secret_here()), uses_mpi)
    except InputError as error:
        raise InputError(f"{command}: {error}") from None


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is the same for all launchers."""

    timeout: float
    command: str
    secret: bytes | None = field(repr=False)

    def store(self, address: str, rank: int) -> TcpStore:
        return TcpStore(address, rank=rank, timeout=self.timeout, secret=self.secret or b"")

    def launch(self, place: tuple[int, int], store: Store, launcher: str, here: str, joining: Deadline) -> Launch:
        return Launch(*place, store, launcher, here, self.timeout, self.command, self.secret, joining)


_VARIABLES = {
    "RANK": "the number of this process, from 0",
    "WORLD_SIZE": "the number of all processes",
    "MASTER_ADDR": "the address of rank 0",
    "MASTER_PORT": "a free port there",
}
"""The variables by which a launcher says who a process is, and what they are."""


def _joined(asked: _Asked, uses_mpi: bool) -> Launch:  # noqa: FBT001 (as `join`)
    variables = os.environ
    if "TORCHELASTIC_RUN_ID" in variables:
        return _torchrun(asked)
    found = _ranks(variables)
    if uses_mpi and launcher_rank() is not None and importlib.util.find_spec("mpi4py") is not None:
        # The import starts MPI and keeps the interpreter's lock until all ranks have come. So it is before the store,
        # whose threads need the lock.
        _mpi()
    if "MASTER_ADDR" in variables and found is not None:
        address = f"{variables['MASTER_ADDR']}:{_port(variables)}"
        here = interface_here() or local_address(variables["MASTER_ADDR"])
        joining = Deadline.after(asked.timeout)
        launcher = "variables" if launcher_rank() is None else "mpi"
        return asked.launch(found, asked.store(address, found[0]), launcher, here, joining)
    if launcher_rank() is not None:
        return _mpirun(asked)
    given = [name for name in _VARIABLES if name in variables]
    if "RANK" in given or "WORLD_SIZE" in given:
        missing = [f"{name} to {what}" for name, what in _VARIABLES.items() if name not in variables]
        words = "is set" if len(given) == 1 else "are set"
        raise InputError(f"only {', '.join(given)} {words}; also set {', '.join(missing)}")
    command = asked.command
    raise InputError(
        f"this process has no rank; start it by a launcher: torchrun --nproc-per-node 8 -m forestcoll {command} …, "
        f"mpirun -n 8 forestcoll {command} …, or forestcoll emulate TOPOLOGY -- forestcoll {command} …"
    )


def _ranks(variables: Mapping[str, str]) -> tuple[int, int] | None:
    if "RANK" not in variables or "WORLD_SIZE" not in variables:
        return launcher_rank(variables)
    rank, size = (_number(variables, name) for name in ("RANK", "WORLD_SIZE"))
    if not 0 <= rank < size:
        raise InputError(f"RANK is {rank} and WORLD_SIZE is {size}; ranks are 0 to {size - 1}")
    return rank, size


def _number(variables: Mapping[str, str], name: str) -> int:
    if not variables[name].isdecimal():
        raise InputError(f"{name} is {shown(variables[name])}; expected a number")
    return int(variables[name])


def _port(variables: Mapping[str, str]) -> int:
    return _number(variables, "MASTER_PORT") if "MASTER_PORT" in variables else 29500


def local_address(other: str) -> str:
    """Return the address from which this machine reaches `other`; no packet is sent."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect((other, 9))
            return str(probe.getsockname()[0])
    except OSError as error:
        raise InputError(f"{shown(other)} cannot be reached: {error}; set FORESTCOLL_INTERFACE") from None


def _torchrun(asked: _Asked) -> Launch:
    from datetime import timedelta

    from torch.distributed.rendezvous import rendezvous

    joining = Deadline.after(asked.timeout)
    store, rank, size = next(rendezvous("env://", timeout=timedelta(seconds=asked.timeout)))
    here = interface_here() or local_address(os.environ["MASTER_ADDR"])
    return asked.launch((rank, size), TorchStore(store), "torchrun", here, joining)


def _mpi() -> Any:
    """Return the module of MPI, which its first import starts."""
    try:
        return importlib.import_module("mpi4py.MPI")
    except (ImportError, RuntimeError) as error:  # there is no library, or another one than mpi4py was built for
        reason = str(error).splitlines()[0]
        raise InputError(f"mpi4py cannot start MPI ({reason}); install the MPI library of this mpirun") from None


def _mpirun(asked: _Asked) -> Launch:
    if importlib.util.find_spec("mpi4py") is None:
        raise InputError(
            "under mpirun without mpi4py; install it (pip install 'forestcoll[mpi]'), or set MASTER_ADDR and "
            "MASTER_PORT to a free port of rank 0's machine"
        )
    mpi = _mpi()
    world = mpi.COMM_WORLD
    is_one_machine = world.Split_type(mpi.COMM_TYPE_SHARED).Get_size() == world.Get_size()
    here = interface_here() or ("127.0.0.1" if is_one_machine else socket.gethostbyname(socket.gethostname()))
    joining = Deadline.after(asked.timeout)
    rank = world.Get_rank()
    store = asked.store(f"{here}:0", 0) if rank == 0 else None
    address = world.bcast(None if store is None else f"{here}:{store.port}")
    return asked.launch((rank, world.Get_size()), store or asked.store(address, rank), "mpi", here, joining)


def torch_store(launch: Launch, name: str, limit: Any) -> Any:
    """Return a store of torch for a process group: that of torchrun, or one that rank 0 serves.

    Args:
        launch: this process among the others; all of them call this.
        name: what the keys of the group begin with in the store of torchrun.
        limit: a `datetime.timedelta`: how long a process waits for another one at most.
    """
    import torch.distributed as dist

    if isinstance(launch.store, TorchStore):
        return dist.PrefixStore(name, launch.store.store)
    served = None
    if launch.rank == 0:
        served = dist.TCPStore(launch.interface, 0, launch.size, is_master=True, timeout=limit, wait_for_workers=False)
    host, port = launch.share("" if served is None else f"{launch.interface} {served.port}").split()
    store = served or dist.TCPStore(host, int(port), launch.size, is_master=False, timeout=limit)
    # A process group is made with the interpreter's lock held, and the threads of rank 0's own store need the lock. So
    # no rank may still wait for that store.
    store.set(f"{name}/{launch.rank}", "")
    if launch.rank == 0:
        store.wait([f"{name}/{rank}" for rank in range(launch.size)], limit)
    return store
