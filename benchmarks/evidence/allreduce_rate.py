from evidence.exhibit import Paper

PAPER = Paper("allreduce_rate", "allreduce_rate", "allreduce_rate", "", ())
