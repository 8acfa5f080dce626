"""Pages of HTML in one file: text, pictures, styles and a script, without anything from a network."""
