"""Shows results: as text, JSON and HTML (`results/`), pictures of networks and schedules, and pages for a browser."""
