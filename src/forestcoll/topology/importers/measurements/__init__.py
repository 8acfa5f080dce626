"""The measurements of `forestcoll probe`: their file, and the network that fits them."""
