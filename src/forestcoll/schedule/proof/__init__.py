"""Bounds and their proofs as values and as JSON. A proof is checked by addition; each kind has one file."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
