"""What searches found, as text: schedules of base networks, and generators of Cayley graphs."""
