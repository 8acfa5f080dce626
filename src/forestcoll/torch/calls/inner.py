"""The group for what the engine does not do: gloo for CPU tensors, NCCL for CUDA tensors."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

_EARLIER_NAMES = {
    "all_gather_single": "_allgather_base",
    "reduce_scatter_single": "_reduce_scatter_base",
    "all_to_all_single": "alltoall_base",
}
"""How versions of torch before 2.13 name methods of a group."""

_GLOO, _NCCL = dist.ProcessGroup.BackendType.GLOO, dist.ProcessGroup.BackendType.NCCL


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
        return {device: "gloo" if kind == _GLOO else "nccl" for device, (kind, _) in self.backends.items()}

    def serve(self, group: dist.ProcessGroup) -> None:
        """Give `group` the same backends: torch looks them up by device, and for operations that only C++ calls."""
        for device, (kind, backend) in self.backends.items():
            group._register_backend(torch.device(device), kind, backend)  # noqa: SLF001 (torch has no other way)
        group._set_default_backend(_GLOO)  # noqa: SLF001


def method(group: dist.ProcessGroup, name: str) -> Callable[..., dist.Work]:
    """Return a method of a group of torch by its name since torch 2.13."""
    found: Callable[..., dist.Work] = getattr(group, name if hasattr(group, name) else _EARLIER_NAMES[name])
    return found


def inner_group(store: dist.Store, rank: int, size: int, timeout: timedelta, address: str) -> Inner:
    """Return a new inner group.

    Args:
        store: where the backends of all ranks find each other.
        rank: of the caller.
        size: how many ranks there are.
        timeout: of the operations.
        address: the address that gloo listens on, unless `GLOO_SOCKET_IFNAME` names interfaces.
    """
    gloo = dist.ProcessGroupGloo(dist.PrefixStore("gloo/", store), rank, size, _gloo_options(timeout, address))
    gloo._set_sequence_number_for_group()  # noqa: SLF001 (as torch does for its own groups)
    backends = {"cpu": (_GLOO, gloo)}
    if torch.cuda.is_available() and dist.is_nccl_available():
        options = dist.ProcessGroupNCCL.Options()
        options._timeout = timeout  # noqa: SLF001
        backends["cuda"] = _NCCL, dist.ProcessGroupNCCL(dist.PrefixStore("nccl/", store), rank, size, options)
    inner = Inner(dist.ProcessGroup(store, rank, size), backends)
    inner.serve(inner.group)
    return inner


def _gloo_options(timeout: timedelta, address: str) -> Any:
    gloo = dist.ProcessGroupGloo
    names = [name for name in os.environ.get("GLOO_SOCKET_IFNAME", "").split(",") if name]
    options = gloo._Options()  # noqa: SLF001 (the only way to name an address)
    options._timeout = timeout  # noqa: SLF001
    devices = [gloo.create_device(interface=name) for name in names] or [gloo.create_device(hostname=address)]
    options._devices = devices  # noqa: SLF001
    return options
