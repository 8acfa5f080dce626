"""MPI libraries: which algorithm they choose by size and number of ranks, and its schedule."""
