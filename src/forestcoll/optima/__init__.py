"""The optimum of one collective along one forest of spanning trees, and the trees that reach it."""
