"""The exact optimum of a demand or of groups at the same time, all bounds, and the trees and flows that reach it."""
