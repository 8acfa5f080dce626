"""What the optimum becomes when the network changes: failures, upgrades, new links; failover schedules."""
