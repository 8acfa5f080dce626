"""A series of broadcasts: its optimum, its trees, and its periodic schedule."""
