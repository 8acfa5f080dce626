"""What NCCL and RCCL did: logs of their tests next to bounds, graphs as schedules; and the files that NCCL reads."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
