"""The work of one rank as the native engine runs it: plans, sizes, elements and handles."""
