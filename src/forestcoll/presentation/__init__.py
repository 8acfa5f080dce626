"""The text of every result: rows, sentences and JSON documents, for the command line, notebooks and pages."""
