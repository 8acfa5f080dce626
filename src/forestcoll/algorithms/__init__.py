"""Named algorithms on any network, one a file: rings, trees and others; and `generate()`, which reaches the optimum."""
