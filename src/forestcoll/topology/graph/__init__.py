"""Questions about a network as a graph, and networks derived from it."""
