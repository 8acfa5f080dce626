"""Each result as text, JSON and HTML; one file a result."""
