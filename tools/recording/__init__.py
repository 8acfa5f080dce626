"""What `tools/same_bytes.py` records: jobs, the files that they read, and the masks of what differs between runs."""
