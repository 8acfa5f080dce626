"""Networks: model, builder; machines with their bandwidths and latencies, families, clusters; importers, writers."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
