"""A finished kernel: it prints as IR, shows its C and stages, and launches on NumPy arrays.

`kernel[block_dim](x, y, z, n)` checks the arguments against the declared ones first, because a kernel sees only addresses: a wrong
dtype or a transposed array would give wrong numbers, not an error. `Kernel.parse` makes the same object from textual IR.
"""

from __future__ import annotations

import numbers
import reprlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, MemRefType, ModuleOp
from xdsl.ir import SSAValue

from ascir.backend_c.schedule import schedule as within
from ascir.diagnostics import AscirError, did_you_mean, parse_module, verify_module
from ascir.dialects.ascend import KernelOp
from ascir.dialects.memory import CopyOp, ScalarCopyOp, ViewOp
from ascir.dialects.types import buffer_type, dtype_of, shape_of
from ascir.machine.dtypes import DType, dtype, from_numpy
from ascir.machine.target import ASCEND910B
from ascir.source import fail

from .values import plain

if TYPE_CHECKING:
    import numpy as np

    from ascir.backend_c.report import Profile
    from ascir.compile import CompiledKernel

    Argument: TypeAlias = "np.ndarray[Any, np.dtype[Any]] | float"

Extent: TypeAlias = "int | tuple[Sequence[tuple[int, int]], int] | None"
"""A dimension a call must have: a size, a sum of (argument number, factor) and a constant, or None for any."""


@dataclass
class Parameter:
    """One argument of a kernel; `extents` None makes it a scalar."""

    name: str
    dtype: DType
    extents: Sequence[Extent] | None
    output: bool = False
    written: bool = False

    def __str__(self) -> str:
        if self.extents is None:
            return f"{self.name}: {self.dtype.numpy}"
        sizes = ", ".join(str(e) if isinstance(e, int) else "?" for e in self.extents)
        return f"{self.name}: {self.dtype.numpy}[{sizes}]"


class Kernel:
    """A kernel that can be printed, compiled and launched.

    `kernel[block_dim](*arguments)` runs it on that many cores, writing outputs in place; KernelFault if the emulator finds a fault.
    `kernel.profile[block_dim](*arguments)` returns the `Profile` with a trace. Compiling happens once, at the first need.
    """

    def __init__(self, module: ModuleOp, parameters: Sequence[Parameter], *, sync: str = "auto", target: str = ASCEND910B.name):
        self.module = module
        self.parameters = tuple(parameters)
        self.sync = sync
        self.target = target
        self._op = next(op for op in module.ops if isinstance(op, KernelOp))
        self._compiled: CompiledKernel | None = None
        self._lock = Lock()

    @staticmethod
    def parse(
        text: str | bytes, name: str | None = None, *, filename: str = "<string>", sync: str = "auto", target: str = ASCEND910B.name
    ) -> Kernel:
        """The kernel @`name` of textual IR; the only one if no name is given.

        Raises AscirError, with the place in the text, for what is no kernel.
        """
        module = parse_module(text, filename)
        verify_module(module)
        kernels = {op.sym_name.data: op for op in module.ops if isinstance(op, KernelOp)}
        if name is None and len(kernels) != 1:
            raise AscirError(f"{filename} holds {len(kernels)} kernels", hint=f"name one of {', '.join(kernels)}" if kernels else None)
        op = kernels.get(name or next(iter(kernels)))
        if op is None:
            raise AscirError(f"{filename} holds no ascend.kernel @{name}", hint=did_you_mean(str(name), kernels))
        return Kernel(_module_of(op), parameters_of(op), sync=sync, target=target)

    @property
    def name(self) -> str:
        return self._op.sym_name.data

    def __repr__(self) -> str:
        return f"<ascir.Kernel {self.name}({', '.join(map(str, self.parameters))})>"

    def __str__(self) -> str:
        """The IR as it was built."""
        return str(self.module)

    @property
    def compiled(self) -> CompiledKernel:
        """The result of the passes and the C back end."""
        from ascir.compile import compile_kernel

        with self._lock:
            if self._compiled is None:
                self._compiled = compile_kernel(self.module, self.name, target=self.target, sync=self.sync)
            return self._compiled

    @property
    def c_source(self) -> str:
        """The kernel in C."""
        return self.compiled.c_source

    @property
    def stages(self) -> Sequence[str]:
        """The passes `ir` knows."""
        return self.compiled.stages

    def ir(self, stage: str | None = None) -> str:
        """The IR after a pass, or after the last one."""
        return self.compiled.ir(stage)

    def __getitem__(self, block_dim: int) -> Launcher:
        return Launcher(self, self._cores(block_dim))

    def __call__(self, *arguments: Argument, schedule: str | None = None, seed: int = 0) -> None:
        Launcher(self)(*arguments, schedule=schedule, seed=seed)

    @property
    def profile(self) -> Profiler:
        """`kernel.profile[8](…)` or `kernel.profile(…, block_dim=8)`: launch with a trace and return the Profile."""
        return Profiler(self)

    def launch(
        self,
        arguments: Sequence[Argument],
        block_dim: int | None = None,
        *,
        trace: bool = False,
        schedule: str | None = None,
        seed: int = 0,
    ) -> Profile:
        """Check the arguments, run on `block_dim` cores (the kernel's own number if None), return the Profile.

        `schedule` and `seed`: see `ascir.schedule`.
        Raises AscirError for arguments that do not fit, KernelFault for a fault found while running.
        """
        cores = self._op.block_dim.value.data if block_dim is None else self._cores(block_dim)
        values, copied = self._checked(arguments)
        with within(schedule, seed):
            profile = self.compiled.launch(values, cores, trace=trace)
        return replace(profile, copied=tuple(f"{name}: not C-contiguous" for name in copied)) if copied else profile

    # arguments

    def _fail(self, message: str, hint: str | None = None) -> NoReturn:
        fail(f"{self.name}: {message}", hint)

    def _cores(self, block_dim: object) -> int:
        if not isinstance(block_dim, numbers.Integral) or int(block_dim) < 1:
            self._fail(f"block_dim is the number of cores, 1 or more; got {block_dim!r}", f"`{self.name}[8](…)`")
        return int(block_dim)

    def _checked(self, arguments: Sequence[Argument]) -> tuple[list[Any], list[str]]:
        """The arguments as the emulator takes them, and the names of those that had to be copied."""
        import numpy as np

        if len(arguments) != len(self.parameters):
            names = ", ".join(map(str, self.parameters))
            self._fail(f"{len(self.parameters)} arguments expected ({names}), got {len(arguments)}")
        values: list[Any] = [
            self._number(p, value) if p.extents is None else self._array(p, value)
            for p, value in zip(self.parameters, arguments, strict=True)
        ]
        copied: list[str] = []
        for number, (parameter, value) in enumerate(zip(self.parameters, values, strict=True)):
            if parameter.extents is None:
                continue
            self._check_shape(parameter, value.shape, values)
            if not value.flags.c_contiguous:
                if parameter.output:
                    self._fail(f"the output {parameter.name} is not C-contiguous", "pass a contiguous array and copy its elements back")
                values[number] = np.ascontiguousarray(value)
                copied.append(parameter.name)
        self._check_overlap(values)
        return values, copied

    def _number(self, parameter: Parameter, value: object) -> int | float:
        row, value = parameter.dtype, plain(value)
        if row.is_float:
            if not isinstance(value, numbers.Real):
                self._fail(f"{parameter.name} is a {row.numpy} number, got {_kind(value)}")
            return self._rounded(parameter, float(value))
        if not isinstance(value, numbers.Integral):
            self._fail(f"{parameter.name} is an {row.numpy} number, got {_kind(value)}")
        bits = 8 * row.bytes
        low, high = (0, 2**bits - 1) if row.kind == "uint" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        if not low <= int(value) <= high:
            self._fail(f"{parameter.name} = {int(value)} does not fit {row.numpy} ({low} to {high})")
        return int(value)

    def _rounded(self, parameter: Parameter, value: float) -> float:
        """The nearest number of the parameter's dtype; only an infinity gives an infinity."""
        import numpy as np

        with np.errstate(over="ignore"):
            rounded = float(parameter.dtype.to_numpy().type(value))
        if np.isinf(rounded) and not np.isinf(value):
            self._fail(f"{parameter.name} = {value} is too large for {parameter.dtype.numpy}")
        return rounded

    def _array(self, parameter: Parameter, value: object) -> Any:
        import numpy as np

        if not isinstance(value, np.ndarray):
            self._fail(f"{parameter.name} is a NumPy array of {parameter.dtype.numpy}, got {_kind(value)}", "`np.asarray` makes one")
        array = cast("np.ndarray[Any, np.dtype[Any]]", value)
        if from_numpy(array.dtype) is not parameter.dtype:
            self._fail(f"{parameter.name} holds {parameter.dtype.numpy}, got an array of {array.dtype}", "convert it with `.astype`")
        if parameter.output and not array.flags.writeable:
            self._fail(f"the output {parameter.name} is read-only")
        return array

    def _check_shape(self, parameter: Parameter, shape: Sequence[int], values: Sequence[Any]) -> None:
        expected = [_evaluate(extent, values) for extent in parameter.extents or ()]
        if len(shape) == len(expected) and all(e in (None, n) for e, n in zip(expected, shape, strict=True)):
            return
        sizes = ", ".join("any" if e is None else str(e) for e in expected)
        hint = "`.ravel()` makes it 1-d" if len(expected) == 1 and len(shape) > 1 else None
        self._fail(f"{parameter.name} has shape ({sizes}), got an array of shape {tuple(shape)}", hint)

    def _check_overlap(self, values: Sequence[Any]) -> None:
        """An output may share memory with no other argument: the kernel was ordered without knowing."""
        import numpy as np

        arrays = [(p, v) for p, v in zip(self.parameters, values, strict=True) if p.extents is not None]
        for number, (parameter, array) in enumerate(arrays):
            for other, value in arrays[:number]:
                if (parameter.output or other.output) and np.may_share_memory(array, value):
                    hint = "for work in place declare one argument with output=True, and read and write it"
                    self._fail(f"{other.name} and {parameter.name} share memory and one is an output", hint)


class Launcher:
    """A kernel and a number of cores: `kernel[8]`."""

    def __init__(self, kernel: Kernel, block_dim: int | None = None):
        self._kernel = kernel
        self._block_dim = block_dim

    def __call__(self, *arguments: Argument, schedule: str | None = None, seed: int = 0) -> None:
        self._kernel.launch(arguments, self._block_dim, schedule=schedule, seed=seed)


class Profiler:
    """Launches with a trace: `kernel.profile[8](…)` or `kernel.profile(…, block_dim=8)`."""

    def __init__(self, kernel: Kernel, block_dim: int | None = None):
        self._kernel = kernel
        self._block_dim = block_dim

    def __getitem__(self, block_dim: int) -> Profiler:
        return Profiler(self._kernel, block_dim)

    def __call__(self, *arguments: Argument, block_dim: int | None = None, schedule: str | None = None, seed: int = 0) -> Profile:
        cores = self._block_dim if block_dim is None else block_dim
        return self._kernel.launch(arguments, cores, trace=True, schedule=schedule, seed=seed)


def _evaluate(extent: Extent, values: Sequence[Any]) -> int | None:
    if extent is None or isinstance(extent, int):
        return extent
    terms, constant = extent
    return sum(factor * values[number] for number, factor in terms) + constant


def _kind(value: object) -> str:
    shape = getattr(value, "shape", None)
    return f"an array of shape {tuple(shape)}" if shape else f"{type(value).__name__} {reprlib.repr(value)}"


def _module_of(op: KernelOp) -> ModuleOp:
    """The kernel alone, where the file holds more."""
    module = ModuleOp([op.clone()])
    module.location = op.location
    return module


def parameters_of(op: KernelOp) -> list[Parameter]:
    """The arguments of a kernel in textual IR; what some op writes is an output."""
    written = _written(op)
    return [_parameter(arg, number, arg in written) for number, arg in enumerate(op.args)]


def _parameter(arg: SSAValue, number: int, written: bool) -> Parameter:
    name = arg.name_hint or f"argument {number}"
    if isinstance(arg.type, MemRefType):
        shape = [None if size == DYNAMIC_INDEX else size for size in shape_of(arg)]
        return Parameter(name, dtype_of(buffer_type(arg)), shape, written, written)
    if isinstance(arg.type, IndexType):
        return Parameter(name, dtype("i64"), None)
    return Parameter(name, dtype_of(arg.type), None)


def _written(kernel: KernelOp) -> set[SSAValue]:
    targets = [op.destination for op in kernel.walk() if isinstance(op, CopyOp | ScalarCopyOp)]
    targets += [op.memref for op in kernel.walk() if isinstance(op, memref.StoreOp)]
    return {_root(target) for target in targets}


def _root(value: SSAValue) -> SSAValue:
    while isinstance(value.owner, ViewOp):
        value = value.owner.source
    return value
