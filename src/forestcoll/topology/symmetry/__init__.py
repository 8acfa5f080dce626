"""The symmetry of a network: commuting shifts, how they are found, and their orbits."""
