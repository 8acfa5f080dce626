"""The optimum of an allreduce: two forests that share the links of a network."""
