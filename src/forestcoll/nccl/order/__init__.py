"""The order of the hosts with which NCCL's rings and trees cross the fabric least."""
