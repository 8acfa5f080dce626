"""NCCL's tuning table of a job: where it comes from, and what NCCL chooses by it for each size."""
