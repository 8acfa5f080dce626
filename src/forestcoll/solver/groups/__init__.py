"""The optimum of several collectives that run at the same time on one network, and bundles of schedules for them."""
