"""A lower bound of the time of every program for data of one size."""
