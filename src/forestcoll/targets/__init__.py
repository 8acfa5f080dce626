"""The formats of programs that runtimes load: each is read into a value, judged, read as a program, and written."""
