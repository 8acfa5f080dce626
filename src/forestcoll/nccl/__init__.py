"""What NCCL and RCCL did: logs of their tests next to the bounds of the network, and their graphs as schedules."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
