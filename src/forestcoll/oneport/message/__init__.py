"""One message: divided into packets, or sent as a whole."""
