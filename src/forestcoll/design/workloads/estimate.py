"""Computing times of layers, estimated from their multiplications, because the papers do not publish measured times.

A multiplication is two operations, at 40 % of the 312 * 10^12 operations per second of an A100. The backward pass has
twice the work of the forward pass. Gradients have 4 bytes per parameter.
"""

from fractions import Fraction

from forestcoll.design.workloads.profile import Layer

SOURCE = "computing times: two operations per multiplication at 40% of 312 TFLOP/s, not measured"
_OPERATIONS_A_MICROSECOND = 312 * 10**12 * 40 // 100 // 10**6


def estimated_layer(name: str, multiplications: int, parameters: int, exchange_bytes: int = 0) -> Layer:
    """Return a layer with estimated computing times.

    Args:
        name: the label of the layer.
        multiplications: the multiplications of its forward pass on one node.
        parameters: the parameters whose gradients are summed over all nodes.
        exchange_bytes: as for `Layer`.

    Example:
        >>> str(estimated_layer("output", 10**9, 10**6).forward_us)
        '1603/100'
    """
    forward = Fraction(round(Fraction(200 * multiplications, _OPERATIONS_A_MICROSECOND)), 100)
    return Layer(name, forward, 2 * forward, 4 * parameters, exchange_bytes)
