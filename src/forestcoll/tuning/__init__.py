"""The best programs in the simulator: of one schedule (`programs/`), and of all schedules for each message size."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
