"""The group for what the engine does not do: gloo for CPU tensors, the library of the GPUs for theirs."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from forestcoll.torch.calls.accelerators import ACCELERATORS, accelerator_here

_EARLIER_NAMES = {
    "all_gather_single": "_allgather_base",
    "reduce_scatter_single": "_reduce_scatter_base",
    "all_to_all_single": "alltoall_base",
}
"""How versions of torch before 2.13 name methods of a group."""

_GLOO = dist.ProcessGroup.BackendType.GLOO


@dataclass(frozen=True, slots=True)
class Inner:
    """A plain group of torch with its backends.

    Attributes:
        group: the group.
        backends: by type of device, torch's number of the kind, and the backend.
    """

    group: dist.ProcessGroup
    backends: Mapping[str, tuple[Any, Any]]

    @property
    def names(self) -> dict[str, str]:
        """The library that serves each type of device."""
        return {device: "gloo" if device == "cpu" else ACCELERATORS[device].backend_name for device in self.backends}

    def serve(self, group: dist.ProcessGroup) -> None:
        """Give `group` the same backends: torch looks them up by device, and for operations that only C++ calls."""
        for device, (kind, backend) in self.backends.items():
            group._register_backend(torch.device(device), kind, backend)  # noqa: SLF001 (torch has no other way)
        group._set_default_backend(next(iter(self.backends.values()))[0])  # noqa: SLF001


def method(group: dist.ProcessGroup, name: str) -> Callable[..., dist.Work]:
    """Return a method of a group of torch by its name since torch 2.13."""
    found: Callable[..., dist.Work] = getattr(group, name if hasattr(group, name) else _EARLIER_NAMES[name])
    return found


@dataclass(frozen=True, slots=True)
class Meeting:
    """How this process meets the others of a group.

    Attributes:
        store: where the backends of all ranks find each other.
        rank: of this process.
        size: how many ranks there are.
        timeout: of the operations.
        address: the address that gloo listens on, unless `GLOO_SOCKET_IFNAME` names interfaces.
    """

    store: dist.Store
    rank: int
    size: int
    timeout: timedelta
    address: str


def inner_group(meeting: Meeting) -> Inner:
    """Return a new inner group."""
    gpu = accelerator_here()
    return _group(meeting, ["cpu"] if gpu is None else ["cpu", gpu.device])


def group_for(device: str, meeting: Meeting) -> dist.ProcessGroup:
    """Return a new group for one type of device; NCCL makes its connections at the first use."""
    return _group(meeting, [device]).group


def _group(meeting: Meeting, devices: Sequence[str]) -> Inner:
    group = dist.ProcessGroup(meeting.store, meeting.rank, meeting.size)
    inner = Inner(
        group, {device: _gloo(meeting) if device == "cpu" else _library(device, meeting) for device in devices}
    )
    inner.serve(group)
    return inner


def _gloo(meeting: Meeting) -> tuple[Any, Any]:
    store = dist.PrefixStore("gloo/", meeting.store)
    options = _gloo_options(meeting.timeout, meeting.address)
    gloo = dist.ProcessGroupGloo(store, meeting.rank, meeting.size, options)
    gloo._set_sequence_number_for_group()  # noqa: SLF001 (as torch does for its own groups)
    return _GLOO, gloo


def _library(device: str, meeting: Meeting) -> tuple[Any, Any]:
    gpu = ACCELERATORS[device]
    return gpu.kind, gpu.backend(meeting.store, meeting.rank, meeting.size, meeting.timeout)


def _gloo_options(timeout: timedelta, address: str) -> Any:
    gloo = dist.ProcessGroupGloo
    names = [name for name in os.environ.get("GLOO_SOCKET_IFNAME", "").split(",") if name]
    options = gloo._Options()  # noqa: SLF001 (the only way to name an address)
    options._timeout = timeout  # noqa: SLF001
    devices = [gloo.create_device(interface=name) for name in names] or [gloo.create_device(hostname=address)]
    options._devices = devices  # noqa: SLF001
    return options
