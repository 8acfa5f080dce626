"""Networks built for collectives: expansions, the search for the best ones, and the time of training (`workloads/`)."""
