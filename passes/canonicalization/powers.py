"""x ** 3 is two multiplications, not a logarithm and an exponential.

An f16 or bf16 power stays until `select-precision` has widened it to f32: a chain that rounded to f16 at every step would be far
off.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from ascir.dialects.ascend import ConstantOp, ElementwiseOp, elementwise
from ascir.dialects.types import dtype_of, is_static, tensor_type
from ascir.passes.splats import number_of

LARGEST = 16
"""The exponent up to which a chain of products (at most six) beats the `pow` row, and keeps its error below LARGEST / 2 ulp."""


def whole_exponent(op: ElementwiseOp) -> SSAValue | Sequence[ElementwiseOp | ConstantOp] | None:
    """x ** n → products by repeated squaring, n = 0 … 16.

    n ≤ 2 is correctly rounded (x ** 0 is 1 even for NaN); above, the chain rounds once a product and differs from `pow` by at most
    (n − 1) half units in the last place. Signs, zeros, infinities and NaN are those of `pow`: a product of more factors overflows
    or vanishes no earlier than the whole.
    """
    x, exponent = op.operands[0], number_of(op.operands[1])
    type_ = tensor_type(op.result)
    if exponent is None or dtype_of(type_).name not in ("f32", "f64") or exponent not in range(LARGEST + 1):
        return None
    if exponent == 0:
        return (ConstantOp.splat(1.0, type_),) if is_static(type_.get_shape()) else None
    return _product(x, int(exponent))


def _product(x: SSAValue, exponent: int) -> SSAValue | Sequence[ElementwiseOp]:
    """x ** exponent, the squares first: x ** 6 = x² · (x²)²."""
    made: list[ElementwiseOp] = []
    square, power = x, None
    while True:
        if exponent & 1:
            power = square if power is None else _multiply(power, square, made)
        exponent >>= 1
        if not exponent:
            break
        square = _multiply(square, square, made)
    assert power is not None
    return made or power


def _multiply(a: SSAValue, b: SSAValue, made: list[ElementwiseOp]) -> SSAValue:
    made.append(elementwise("mul", a, b))
    return made[-1].result
