"""The backend "forestcoll" of `torch.distributed`: its collectives run by verified schedules.

    import torch.distributed as dist
    import forestcoll.torch

    dist.init_process_group("forestcoll", pg_options=forestcoll.torch.Options(topology="ring:nodes=4"))

CPU tensors are moved by the engine of `forestcoll.runtime`. CUDA tensors, and operations without a schedule, go to an
inner group (NCCL, gloo). `paths` says which operation took which path, and why. It needs the extra `torch`.
"""

from forestcoll.base.errors import InputError

try:
    import torch.distributed as _dist
except ImportError as error:
    raise InputError("forestcoll.torch needs PyTorch; install it by: pip install 'forestcoll[torch]'") from error

if not _dist.is_available():
    raise InputError("this PyTorch was built without torch.distributed; install a build that has it")

from forestcoll.torch.backend import paths, register  # after the check that torch is there
from forestcoll.torch.calls.paths import PathCount
from forestcoll.torch.options import Options
from forestcoll.torch.replanning import replan

__all__ = ["Options", "PathCount", "paths", "register", "replan"]

register()
