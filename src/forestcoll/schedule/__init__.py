"""Schedules and proofs as values and files: a folder for each kind of schedule, a file for each kind of proof."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
