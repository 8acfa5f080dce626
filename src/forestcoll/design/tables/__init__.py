"""Results of searches as text files: schedules of base networks, and generators of Cayley graphs."""
