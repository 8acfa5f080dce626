"""The front door: a request goes in, its optimum or its schedule comes out."""
