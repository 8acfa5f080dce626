"""Named algorithms on any network, one a file: rings, trees and others; and `generate()`, which reaches the optimum."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
