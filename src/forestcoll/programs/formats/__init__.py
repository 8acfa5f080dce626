"""The formats of programs that runtimes load: each is read, checked, converted to and from programs, and written."""
