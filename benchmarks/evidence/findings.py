from evidence.exhibit import Paper

PAPER = Paper("findings", "findings", "findings", "", ())
