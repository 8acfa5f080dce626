"""Pictures of a network: its nodes and links, the loads of a schedule, and the bottleneck cut."""
