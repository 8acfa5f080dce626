from evidence.exhibit import Paper

PAPER = Paper("one_port", "one_port", "one_port", "", ())
