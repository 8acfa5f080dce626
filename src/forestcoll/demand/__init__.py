"""What is asked for: the collective, its ranks, root and shards, demand matrices, groups, and the method."""
