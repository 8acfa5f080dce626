"""What users call: `optimum()` and `generate()` select the search for a request and return its result."""
