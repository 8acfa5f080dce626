"""What NCCL did in a job, from its log with `NCCL_DEBUG=INFO`: communicators, rings, trees, choices, schedules."""
