"""Computes the optimum of a collective along one forest of spanning trees: every collective except allreduce."""
