"""`KernelBuilder` and the `Kernel` it makes: kernels written by hand, in Python."""

from .buffers import Buffer, Mask
from .kernel import Kernel
from .kernel_builder import KernelBuilder
from .values import Condition, Index, Scalar

__all__ = ["Buffer", "Condition", "Index", "Kernel", "KernelBuilder", "Mask", "Scalar"]
