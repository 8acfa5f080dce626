"""Rings, torus rings, halving and doubling, and double trees as schedules of steps on direct networks."""
