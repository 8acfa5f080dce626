"""Files for NCCL's tuner interface: rules for each size, and a plugin that applies them."""
