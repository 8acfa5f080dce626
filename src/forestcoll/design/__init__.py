"""Networks built for collectives: expansions of small networks with their schedules, and a search for the best ones."""
