"""Graph files of NCCL: channels of rings and chains, read and written, and schedules along them."""
