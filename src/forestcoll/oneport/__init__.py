"""Broadcasts where a node sends to one neighbour at a time: a series of messages, or one message.

The paper is Legrand, Beaumont, Marchal and Robert, *Optimizing the steady-state throughput of Broadcasts on
heterogeneous platforms* (INRIA RR-4871, 2003). Section numbers in docstrings refer to this paper.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
