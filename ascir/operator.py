"""`@hybrid_operator`: a NumPy function that is traced, compiled and run on the emulated AI Core when it is called.

One program is made for each combination of shapes, dtypes, values that are no arrays, and values of variables the function reads; a call
that finds its program does little more than allocate the results. Read `HybridOperator.__call__`, then `Program`.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ascir.backend_c.schedule import Schedule, schedule
from ascir.diagnostics import AscirError, did_you_mean
from ascir.machine.target import parse_target
from ascir.source import fail
from ascir.tracing.arguments import TensorSpec, describe, holds_traced, native
from ascir.tracing.environment import Environment
from ascir.tracing.function import TracedFunction, symbol_name, trace
from ascir.tracing.trace import Array, NumpyDType, is_sequence

if TYPE_CHECKING:
    from ascir.backend_c.report import Profile
    from ascir.compile import CompiledOperator as CompiledModule

__all__ = ["CompiledOperator", "HybridOperator", "TensorSpec", "hybrid_operator"]

PRECISIONS = ("mixed", "strict")
OPT_LEVELS = (0, 1, 2)
MAX_PROGRAMS = 256
"""Programs an operator keeps; the oldest goes first."""


@dataclass(frozen=True)
class Options:
    """How an operator is compiled; AscirError for a value that does not exist."""

    precision: str = "mixed"
    opt_level: int = 2
    block_dim: int | None = None
    target: str = "ascend910b"
    schedule: str | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        Schedule(self.schedule or "eager", self.seed)
        if self.precision not in PRECISIONS:
            fail(f"there is no precision {self.precision!r}; {_nearest(self.precision, PRECISIONS)}", f"it is one of {_listed(PRECISIONS)}")
        if self.opt_level not in OPT_LEVELS:
            fail(f"there is no opt_level {self.opt_level!r}", f"it is one of {_listed(OPT_LEVELS)}")
        if self.block_dim is not None and not (isinstance(self.block_dim, int) and self.block_dim >= 1):  # pyright: ignore[reportUnnecessaryIsInstance]
            fail(f"block_dim is a number of cores from 1 up, or None to choose; got {self.block_dim!r}")
        try:
            parse_target(self.target)
        except ValueError as error:
            fail(str(error))


def _nearest(given: object, known: Sequence[str]) -> str:
    return did_you_mean(str(given), known)


def _listed(values: Sequence[object]) -> str:
    return ", ".join(repr(v) for v in values)


class _Mode(threading.local):
    """Whether this thread is running a reference: then operators within it are plain functions too."""

    plain = False


_mode = _Mode()


class HybridOperator:
    """A function of NumPy arrays that runs on the emulated AI Core; made by `hybrid_operator`."""

    def __init__(self, function: Callable[..., Any], options: Options, infer_shape: Callable[..., Any] | None = None):
        self.function = function
        self._options = options
        self._infer_shape = infer_shape
        self._signature = inspect.signature(function)
        self._parameters = tuple(self._signature.parameters)
        self._arity = _plain_arity(self._signature)
        self._environment = Environment(function)
        self._programs: dict[Hashable, Program] = {}
        self._lock = threading.RLock()
        update_wrapper(self, function)  # pyright: ignore[reportArgumentType]

    @property
    def options(self) -> Options:
        """How it is compiled; setting others makes it compile anew."""
        return self._options

    @options.setter
    def options(self, options: Options) -> None:
        with self._lock:
            self._options = options
            self._programs.clear()

    def __repr__(self) -> str:
        return f"<hybrid_operator {symbol_name(self.function)}{self._signature}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run on NumPy arrays: compiled at the first call with these shapes and dtypes, fast afterwards.

        Gives what the function returns, with arrays that own their memory. AscirError for what cannot be compiled,
        KernelFault if the emulator finds a fault.
        """
        if _mode.plain:
            return self.function(*args, **kwargs)
        values = args if not kwargs and len(args) == self._arity else self._bind(args, kwargs)
        arrays: list[Array] = []
        key = (tuple([describe(v, arrays) for v in values]), self._environment.key())
        program = self._programs.get(key)
        if program is None:
            if holds_traced(values):
                return self.function(*args, **kwargs)
            program = self._new_program(values)
        return program.run(arrays)

    def reference(self, *args: Any, **kwargs: Any) -> Any:
        """The same function in plain NumPy: the golden."""
        before, _mode.plain = _mode.plain, True
        try:
            return self.function(*args, **kwargs)
        finally:
            _mode.plain = before

    def compile(self, *args: Any, **kwargs: Any) -> CompiledOperator:
        """The compiled operator for these arrays, or for `TensorSpec`s in their place."""
        values = self._bind(args, kwargs)
        arrays: list[Any] = []
        key = (tuple([describe(v, arrays) for v in values]), self._environment.key())
        program = self._programs.get(key) or self._new_program(values)
        return CompiledOperator(self, program, key[0])

    def profile(self, *args: Any, **kwargs: Any) -> Profile:
        """Run once and report cycles, time, utilisation, memory and faults."""
        return self.compile(*args, **kwargs).profile(*args, **kwargs)

    def describe(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Hashable, list[Array]]:
        """The key of a call's arguments, and its arrays in order."""
        arrays: list[Array] = []
        return tuple([describe(v, arrays) for v in self._bind(args, kwargs)]), arrays

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The value of every parameter in order, defaults filled in."""
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            hint = "assign the result: y[...] = f(x)" if "out" in kwargs else "a method cannot be an operator; decorate a function"
            fail(f"{symbol_name(self.function)}{self._signature}: {error}", hint if "self" in self._parameters or "out" in kwargs else None)
        bound.apply_defaults()
        return tuple(bound.arguments.values())

    def _new_program(self, values: tuple[Any, ...]) -> Program:
        """Trace, under the key of the variables that the function reads now."""
        with self._lock:
            if self._environment.refresh():
                self._programs.clear()
            watched = self._environment.arrays()
            names = {number: name for number, (name, _) in watched.items()}
            arguments = dict(zip(self._parameters, values, strict=True))
            traced = trace(self.function, arguments, self._call, self._infer_shape, names)
            self._environment.sum_content(watched.keys() - {id(a) for a in traced.captured})
            key = (tuple([describe(v, []) for v in values]), self._environment.key())
            if len(self._programs) >= MAX_PROGRAMS:
                del self._programs[next(iter(self._programs))]
            return self._programs.setdefault(key, Program(traced, self.options))

    def _call(self, function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
        bound = inspect.BoundArguments(self._signature, dict(arguments))  # pyright: ignore[reportArgumentType]
        return function(*bound.args, **bound.kwargs)


def _plain_arity(signature: inspect.Signature) -> int:
    """How many positional arguments make a complete call, or -1 if some cannot be positional."""
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = signature.parameters.values()
    return len(parameters) if all(p.kind in plain for p in parameters) else -1


class Program:
    """A traced function with what it is compiled to (at first use) and how to run it."""

    def __init__(self, traced: TracedFunction, options: Options):
        self.traced = traced
        self.options = options
        self._captured = traced.captured
        self._outputs = [(o.shape, o.numpy, o.dtype.alignment) for o in traced.outputs]
        self._rebuild = traced.rebuild
        self._compiled: CompiledModule | None = None
        self._lock = threading.Lock()

    @property
    def compiled(self) -> CompiledModule:
        """The module behind the passes; made once, whichever thread comes first."""
        if self._compiled is None:
            from ascir.compile import compile_module

            with self._lock:
                if self._compiled is None:
                    self._compiled = self._compile(compile_module)
        return self._compiled

    def _compile(self, compile_module: Callable[..., CompiledModule]) -> CompiledModule:
        o = self.options
        return compile_module(
            self.traced.module, name=self.traced.name, precision=o.precision, opt_level=o.opt_level, target=o.target, block_dim=o.block_dim
        )

    def run(self, arrays: Sequence[Array]) -> Any:
        """Run on arrays of the traced shapes and dtypes."""
        results = [empty(shape, dtype, alignment) for shape, dtype, alignment in self._outputs]
        if results and self.options.schedule is None:
            self.compiled.run(self._prepared(arrays), results)
        elif results:
            with schedule(self.options.schedule, self.options.seed):
                self.compiled.run(self._prepared(arrays), results)
        return self._rebuild(results)

    def profile(self, arrays: Sequence[Array]) -> Profile:
        """Run once with a trace."""
        results = [empty(shape, dtype, alignment) for shape, dtype, alignment in self._outputs]
        with schedule(self.options.schedule, self.options.seed):
            profile = self.compiled.profile(self._prepared(arrays), results)
        return replace(profile, copied=tuple(self.copied(arrays)))

    def _prepared(self, arrays: Sequence[Array]) -> list[Array]:
        """C-contiguous arrays as they are, others copied; then the captured ones."""
        inputs = [a if a.flags.c_contiguous else np.ascontiguousarray(a) for a in (*arrays, *self._captured)]
        return [a if a.dtype.isnative else a.astype(native(a.dtype)) for a in inputs]

    def copied(self, arrays: Sequence[Array]) -> list[str]:
        """The names of the arguments that a run copies, and why."""
        reasons: list[str] = []
        for array, name in zip(arrays, self.traced.input_names, strict=True):
            if not array.dtype.isnative:
                reasons.append(f"{name}: not in this machine's byte order")
            elif not array.flags.c_contiguous:
                reasons.append(f"{name}: not C-contiguous")
        return reasons


def empty(shape: tuple[int, ...], dtype: NumpyDType, alignment: int) -> Array:
    """A new array whose data is aligned to so many bytes at least."""
    array = np.empty(shape, dtype)
    if array.ctypes.data % alignment == 0:
        return array
    memory = np.empty(array.nbytes + alignment, np.uint8)
    return np.ndarray(shape, dtype, memory, -memory.ctypes.data % alignment)


class CompiledOperator:
    """An operator compiled for given shapes and dtypes: `stages`, `ir(stage)`, `c_source`, and callable on arrays that fit.

    Where a `TensorSpec` left a size open, only the traced IR exists; a call compiles for the sizes it is given.
    """

    def __init__(self, operator: HybridOperator, program: Program, key: Hashable):
        self._operator = operator
        self._program = program
        self._key = key

    @property
    def stages(self) -> list[str]:
        """Names that `ir` takes: "trace", then the passes in the order they ran."""
        return self._program.compiled.stages if self._program.traced.is_static else ["trace"]

    def ir(self, stage: str | None = None) -> str:
        """IR text after a pass ("trace": before all), or the last; AscirError with the nearest name for a pass that did not run."""
        if self._program.traced.is_static:
            return self._program.compiled.ir(stage)
        if stage not in (None, "trace"):
            raise AscirError(f"no stage '{stage}': a size is unknown, so no pass has run", hint=_GIVE_SIZES)
        return str(self._program.traced.module)

    @property
    def c_source(self) -> str:
        """The C of all kernels."""
        if not self._program.traced.is_static:
            raise AscirError("no C yet: a size is unknown", hint=_GIVE_SIZES)
        return self._program.compiled.c_source

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run; the arguments have the shapes and dtypes compiled for."""
        key, arrays = self._operator.describe(args, kwargs)
        if key == self._key and self._program.traced.is_static:
            return self._program.run(arrays)
        self._check_fit(key)
        return self._operator(*args, **kwargs)

    def profile(self, *args: Any, **kwargs: Any) -> Profile:
        """Run once and report cycles, time, utilisation, memory and faults."""
        key, arrays = self._operator.describe(args, kwargs)
        if key == self._key and self._program.traced.is_static:
            return self._program.profile(arrays)
        self._check_fit(key)
        return self._operator.profile(*args, **kwargs)

    def _check_fit(self, key: Hashable) -> None:
        if not _fits(self._key, key):
            fail(
                f"this was compiled for {_key_text(self._key)}, and is called with {_key_text(key)}",
                "call the operator itself, which compiles for what it is given; or compile with ascir.TensorSpec((None, …), …)",
            )


_GIVE_SIZES = "call it with arrays, or compile with a TensorSpec without None"


def _fits(compiled: Any, given: Any) -> bool:
    """Whether a key matches one in which None stands for any size."""
    if is_sequence(compiled) and is_sequence(given) and len(compiled) == len(given):
        return all(_fits(a, b) for a, b in zip(compiled, given, strict=True))
    return compiled == given or (compiled is None and isinstance(given, int))


def _key_text(key: Any) -> str:
    """The shapes and dtypes of a key, for people."""
    return ", ".join(_part_text(part) for part in key)


def _part_text(part: Any) -> str:
    match part:
        case ((*shape,), np.dtype() as dtype):  # pyright: ignore[reportUnknownVariableType]
            return f"{dtype.name}[{', '.join('?' if d is None else str(d) for d in shape)}]"
        case (type(), value):
            return repr(value)
        case _:
            return str(part)


@overload
def hybrid_operator(
    function: Callable[..., Any],
    /,
    *,
    precision: str = "mixed",
    opt_level: int = 2,
    block_dim: int | None = None,
    infer_shape: Callable[..., Any] | None = None,
    target: str = "ascend910b",
    schedule: str | None = None,
    seed: int = 0,
) -> HybridOperator: ...
@overload
def hybrid_operator(
    *,
    precision: str = "mixed",
    opt_level: int = 2,
    block_dim: int | None = None,
    infer_shape: Callable[..., Any] | None = None,
    target: str = "ascend910b",
    schedule: str | None = None,
    seed: int = 0,
) -> Callable[[Callable[..., Any]], HybridOperator]: ...
def hybrid_operator(
    function: Callable[..., Any] | None = None,
    /,
    *,
    precision: str = "mixed",
    opt_level: int = 2,
    block_dim: int | None = None,
    infer_shape: Callable[..., Any] | None = None,
    target: str = "ascend910b",
    schedule: str | None = None,
    seed: int = 0,
) -> HybridOperator | Callable[[Callable[..., Any]], HybridOperator]:
    """Make an operator of a NumPy function: `@hybrid_operator`, or `@hybrid_operator(precision="strict", …)`.

    `precision`: "mixed" computes float16 and bfloat16 in float32 and rounds once, when a value is stored; "strict" rounds every operation
    to its NumPy dtype. `opt_level`: 0 keeps a kernel an operator, 1 and 2 fuse. `block_dim`: cores, None to choose.
    `schedule` and `seed`: the order in which the emulator computes values, see `ascir.schedule`; None leaves that to the caller.
    `infer_shape(*argument_shapes)` gives the shape of the result (or one a result): it fills sizes that tracing leaves open and is checked
    where both know. `target`: a name of `ascir.machine.target`, with changes: "ascend910b{ub=98304}".
    """
    options = Options(precision, opt_level, block_dim, target, schedule, seed)

    def decorate(function: Callable[..., Any]) -> HybridOperator:
        if not callable(function):
            fail(f"hybrid_operator takes a function, got {type(function).__name__}")
        return HybridOperator(_of_ufunc(function) if isinstance(function, np.ufunc) else function, options, infer_shape)

    return decorate if function is None else decorate(function)


def _of_ufunc(ufunc: np.ufunc) -> Callable[..., Any]:
    """A ufunc as a function of its operands alone; its keywords (`out`, `dtype`, …) are none of a kernel's."""

    def unary(x: Any, /) -> Any:
        return ufunc(x)

    def binary(x: Any, y: Any, /) -> Any:
        return ufunc(x, y)

    if ufunc.nin > 2:
        fail(f"np.{ufunc.__name__} takes {ufunc.nin} operands; write a function around it")
    function = unary if ufunc.nin == 1 else binary
    function.__name__ = function.__qualname__ = ufunc.__name__
    return function
