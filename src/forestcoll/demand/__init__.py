"""What is asked for: the collective, its ranks, root and shards, demand matrices, groups, and the method."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
