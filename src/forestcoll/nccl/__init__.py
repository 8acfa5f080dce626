"""What NCCL and RCCL did: logs of their tests next to the bounds of the network, and their graphs as schedules."""
