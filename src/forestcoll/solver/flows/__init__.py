"""The optimum of collectives whose pairs of nodes exchange data of their own: all-to-all, gather, scatter."""
