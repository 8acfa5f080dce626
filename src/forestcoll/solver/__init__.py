"""The exact optimum of a demand or of groups at the same time, all bounds, and the trees and flows that reach it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
