"""The main entry points: the optimum of a request, and a schedule that reaches it."""
