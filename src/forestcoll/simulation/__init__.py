"""How long schedules and programs take, by an alpha-beta model; `lower_bound/` has what no program can beat."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
