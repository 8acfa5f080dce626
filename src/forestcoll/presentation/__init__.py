"""Shows results: as text, JSON and HTML (`results/`), pictures of networks and schedules, and pages for a browser."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
