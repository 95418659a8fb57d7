"""The one table of element types.

NumPy, the IR, the C that authors write and the emulator each have a name for the same sixteen bits; every translation between
those names reads this table. NumPy itself is imported only when an array is at hand, so that `ascir-opt` starts without it.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np

BLOCK_BYTES = 32
"""The unit of alignment of on-chip memory and of C0 (hardware.md sections 1 and 7)."""

Kind = Literal["bool", "int", "uint", "float"]


@dataclass(frozen=True)
class DType:
    """One element type under all its names.

    `name` is the IR's spelling (`f16`, `i8` signed, `ui8` unsigned, `i1` bool); `numpy` NumPy's or ml_dtypes'; `c` the type in
    emitted C; `bytes` its size in memory (a bool takes one byte, as in NumPy).
    """

    name: str
    numpy: str
    c: str
    bytes: int
    kind: Kind

    @property
    def c0(self) -> int:
        """Lanes of the innermost dimension of NC1HWC0: 32 B / element size."""
        return BLOCK_BYTES // self.bytes

    @property
    def alignment(self) -> int:
        """Bytes to which memory that the library allocates for this type is aligned at least (float32 32, float16 16, …)."""
        return 8 * self.bytes

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    @property
    def is_integer(self) -> bool:
        return self.kind in ("int", "uint")

    def to_numpy(self) -> np.dtype[Any]:
        """The NumPy dtype (ml_dtypes' for bf16)."""
        return _numpy_dtype(self.numpy)


ALL = (
    DType("i1", "bool", "bool", 1, "bool"),
    DType("i8", "int8", "int8_t", 1, "int"),
    DType("ui8", "uint8", "uint8_t", 1, "uint"),
    DType("i16", "int16", "int16_t", 2, "int"),
    DType("ui16", "uint16", "uint16_t", 2, "uint"),
    DType("i32", "int32", "int32_t", 4, "int"),
    DType("ui32", "uint32", "uint32_t", 4, "uint"),
    DType("i64", "int64", "int64_t", 8, "int"),
    DType("ui64", "uint64", "uint64_t", 8, "uint"),
    DType("f16", "float16", "half", 2, "float"),
    DType("bf16", "bfloat16", "bfloat16_t", 2, "float"),
    DType("f32", "float32", "float", 4, "float"),
)
"""The types a kernel may hold, in the order of their numbers in the emulator."""

F64 = DType("f64", "float64", "double", 8, "float")
"""Only the interpreter has it: the AI Core computes nothing in double."""

BY_NAME = {d.name: d for d in (*ALL, F64)}
BY_NUMPY = {d.numpy: d for d in (*ALL, F64)}
INTEGERS = tuple(d.name for d in ALL if d.is_integer)
FLOATS = tuple(d.name for d in ALL if d.is_float)


def dtype(name: str) -> DType:
    """The row with this IR name.

    Raises KeyError for a name that is not in the table.
    """
    return BY_NAME[name]


def from_numpy(dt: np.dtype[Any]) -> DType | None:
    """The row of a NumPy dtype, or None if no kernel can hold it (complex, strings, objects, big-endian data, …)."""
    return BY_NUMPY.get(dt.name) if dt.isnative else None


@cache
def _numpy_dtype(name: str) -> np.dtype[Any]:
    import numpy as np

    if name == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


def round_to(value: float, dtype: DType) -> float:
    """A Python float rounded to a floating dtype: once, to nearest even; overflow gives an infinity."""
    if dtype.name == "f64":
        return value
    if dtype.name == "bf16":
        return _round_to_bf16(value)
    code = "f" if dtype.name == "f32" else "e"
    try:
        return struct.unpack(code, struct.pack(code, value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def _round_to_bf16(value: float) -> float:
    """The upper half of a single, rounded to nearest even; the single is cut to an odd one first, so that nothing is rounded twice."""
    single = round_to(abs(value), BY_NAME["f32"])
    if not math.isfinite(single):
        return math.copysign(single, value)
    (bits,) = struct.unpack("I", struct.pack("f", single))
    bits = bits - (single > abs(value)) | (single != abs(value))
    bits += 0x7FFF + ((bits >> 16) & 1)
    (upper,) = struct.unpack("f", struct.pack("I", bits & 0xFFFF0000))
    return math.copysign(upper, value)


def wrap_integer(value: int, bits: int) -> int:
    """A Python int reduced to a signed two's complement of so many bits."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value
