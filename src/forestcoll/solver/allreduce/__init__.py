"""Computes the optimum of an allreduce: two forests of spanning trees that share the links of a network."""
