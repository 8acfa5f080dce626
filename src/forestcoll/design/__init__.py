"""Networks built for collectives: expansions of small networks with their schedules, and the search for the best."""
