"""What no schedule on a network can beat, collective by collective, and what is reached."""
