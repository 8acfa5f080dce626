"""What the optimum becomes when the network changes: failures, upgrades, new links; failover schedules."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
