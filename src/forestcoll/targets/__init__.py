"""The formats of programs that runtimes load: each is read, checked, turned into a program, and written."""
