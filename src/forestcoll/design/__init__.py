"""Networks built for collectives: expansions, the search for the best ones, and the time of training (`workloads/`)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
