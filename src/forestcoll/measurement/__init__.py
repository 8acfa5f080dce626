"""Measures real machines: schedules (`bench/`), links (`probe/`), and the costs that explain the times (`fit/`)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
