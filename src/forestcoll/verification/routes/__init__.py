"""What the verifiers of trees and of flows share: the table of routes and the symmetry of a schedule."""
