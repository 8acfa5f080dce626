"""The GPUs that torch knows, and the libraries that move their tensors: no other file of the backend names a vendor's.

PyTorch has AMD's GPUs by the names of NVIDIA's: the device `cuda`, and the backend `nccl`, which is RCCL then. Intel's
are `xpu` and `xccl`. Nothing was run on GPUs of AMD and Intel; docs/gpu.md says what was.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist


@dataclass(frozen=True, slots=True)
class Accelerator:
    """A kind of GPU.

    Attributes:
        device: its type of device in torch.
        backend_name: the name of the backend of torch that moves its tensors.
        has_graphs: whether collectives are captured as graphs.
    """

    device: str
    backend_name: str
    has_graphs: bool

    @property
    def module(self) -> Any:
        """The module of torch with its streams and events."""
        return getattr(torch, self.device)

    @property
    def title(self) -> str:
        """The name of the library in messages."""
        return "RCCL" if self.backend_name == "nccl" and torch.version.hip else self.backend_name.upper()

    @property
    def kind(self) -> Any:
        """The number that torch has for the library."""
        return getattr(dist.ProcessGroup.BackendType, self.backend_name.upper())

    @property
    def is_here(self) -> bool:
        """Whether there is such a GPU, and its library."""
        has_library = getattr(dist, f"is_{self.backend_name}_available", None)
        return has_library is not None and has_library() and self.module.is_available()

    def backend(self, store: dist.Store, rank: int, size: int, timeout: timedelta) -> Any:
        """Return a new backend of the library for a group."""
        make = getattr(dist, f"ProcessGroup{self.backend_name.upper()}")
        options = make.Options()
        options._timeout = timeout  # noqa: SLF001 (torch has no other way)
        return make(dist.PrefixStore(f"{self.backend_name}/", store), rank, size, options)


CUDA = Accelerator("cuda", "nccl", has_graphs=True)
"""GPUs of NVIDIA and AMD."""

XPU = Accelerator("xpu", "xccl", has_graphs=False)
"""GPUs of Intel. torch captures graphs on them since 2.11; here, collectives are not captured."""

ACCELERATORS = {each.device: each for each in (CUDA, XPU)}
"""All kinds, by type of device."""


def accelerator_here() -> Accelerator | None:
    """Return the kind of the GPUs that torch finds, or None if it finds none."""
    return next((each for each in ACCELERATORS.values() if each.is_here), None)
