"""Trees that were packed one by one, as values."""

from fractions import Fraction

from forestcoll.solver.forests.packed_trees import PackedTree, TreePacking


def test_a_tree_with_another_root_has_the_same_edges() -> None:
    tree = PackedTree(0, ((0, 9, 1), (1, 2), (1, 8, 3)), Fraction(1, 2))
    moved = tree.rerooted(2)
    assert moved == PackedTree(2, ((2, 1), (1, 9, 0), (1, 8, 3)), Fraction(1, 2))
    assert (tree.height, moved.height) == (2, 2)


def test_rounded_weights_keep_the_total_of_each_root_equal_in_both_phases() -> None:
    trees = [PackedTree(root, ((root, 1 - root),), Fraction(weight, 30)) for root, weight in ((0, 7), (0, 10), (1, 13))]
    packing = TreePacking(tuple(trees), (PackedTree(0, ((0, 1),), Fraction(17, 30)), trees[2])).rounded(8)
    totals = [
        {root: sum(tree.weight for tree in phase if tree.root == root) for root in (0, 1)}
        for phase in (packing.reduce, packing.broadcast)
    ]
    assert totals == [{0: 5, 1: 3}] * 2
    assert packing.trees == 8
