"""Programs for runtimes: the model, lowering of schedules, an interpreter that checks them, formats like MSCCL XML."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
