"""Programs for runtimes, chosen by the simulator: which sizes they serve, and how fast they are expected to be."""
