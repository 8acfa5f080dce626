"""Groups: several collectives that run at the same time on one network, and layouts that name them."""
