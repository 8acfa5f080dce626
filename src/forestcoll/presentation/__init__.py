"""What results say: rows, sentences and JSON documents, for the command line, notebooks and pages."""
