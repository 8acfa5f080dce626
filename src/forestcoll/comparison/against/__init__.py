"""What users compare with: schedules, programs for runtimes, and graphs of NCCL, each read from a file."""
