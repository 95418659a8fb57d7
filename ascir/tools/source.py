"""What `FILE[:NAME]` means: the operator in a Python file, or the function or kernel in a file of textual IR.

The three kinds end as one thing with two methods, `results(inputs)` and `profile(inputs)`, so that the commands need not tell them
apart. Read `load`, then the three classes.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, FileLineColLoc, IntAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.rewriter import Rewriter

from ascir.builder import Kernel
from ascir.diagnostics import AscirError, UsageError, did_you_mean, parse_module, verify_module
from ascir.dialects.ascend import KernelOp
from ascir.dialects.types import dtype_of, shape_of, tensor, tensor_type
from ascir.operator import HybridOperator, TensorSpec, hybrid_operator

from .shell import unreadable

if TYPE_CHECKING:
    from ascir.backend_c.report import Profile

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Input: TypeAlias = "Array | int | float | TensorSpec"


class Compiled(Protocol):
    """What a compilation shows."""

    @property
    def c_source(self) -> str: ...

    def ir(self, stage: str | None = None) -> str: ...


class Source(Protocol):
    """What a command can do with the thing a person named."""

    def compiled(self, inputs: Sequence[Input]) -> Compiled: ...

    def results(self, inputs: Sequence[Input]) -> list[Array]: ...

    def profile(self, inputs: Sequence[Input]) -> Profile: ...


@dataclass(frozen=True)
class Wishes:
    """How to run: on so many cores, with a kernel's pipes ordered so (`pipeline.SYNC`); None is as the source declares it."""

    block_dim: int | None = None
    sync: str | None = None


def load(spec: str, wishes: Wishes = Wishes()) -> Source:
    """The operator or kernel that `FILE[:NAME]` names."""
    path, name = (spec, None) if os.path.exists(spec) else _split(spec)
    try:
        with open(path, "rb") as file:
            text = file.read()
    except OSError as error:
        raise UsageError(unreadable(path, error)) from None
    if not path.endswith(".py"):
        return _from_text(text, path, name, wishes)
    with blame_author(path):
        return _from_python(path, name, wishes)


def _split(spec: str) -> tuple[str, str | None]:
    path, colon, name = spec.rpartition(":")
    return (path, name) if colon and name.isidentifier() else (spec, None)


def _pick(path: str, name: str | None, found: dict[str, Any], what: str) -> Any:
    """The thing called `name`, or the only one."""
    if name is None and len(found) == 1:
        return next(iter(found.values()))
    if name in found:
        return found[name]
    if name is not None:
        raise UsageError(f"{path} has no {what} '{name}'; {did_you_mean(name, found)}")
    if not found:
        raise UsageError(f"{path} has no {what}")
    raise UsageError(f"{path} has {len(found)} of them, name one: {', '.join(f'{path}:{n}' for n in found)}")


@contextmanager
def blame_author(path: str) -> Generator[None]:
    """Name the line of the author's file for an exception that passes through it."""
    try:
        yield
    except AscirError:
        raise
    except Exception as error:
        location = _last_place(path, error)
        if location is None:
            raise
        raise AscirError(f"{type(error).__name__}: {error}", location) from error


def _last_place(path: str, error: Exception) -> FileLineColLoc | None:
    """The innermost line of the file that the exception came through, or the one that Python cannot parse."""
    if isinstance(error, SyntaxError) and error.filename and os.path.samefile(error.filename, path):
        return FileLineColLoc(StringAttr(path), IntAttr(error.lineno or 1), IntAttr(error.offset or 1))
    frames = [f for f in traceback.extract_tb(error.__traceback__) if os.path.abspath(f.filename) == os.path.abspath(path)]
    if not frames:
        return None
    return FileLineColLoc(StringAttr(path), IntAttr(frames[-1].lineno or 1), IntAttr((frames[-1].colno or 0) + 1))


# Python files


def _from_python(path: str, name: str | None, wishes: Wishes) -> Source:
    names = vars(_module(path))
    known = {n: v for n, v in names.items() if isinstance(v, HybridOperator | Kernel)}
    chosen = names.get(name) if name else None
    if name and callable(chosen) and name not in known:
        known[name] = hybrid_operator(chosen)
    found = _pick(path, name, known, "@hybrid_operator or ascir.Kernel")
    return KernelSource(found, wishes) if isinstance(found, Kernel) else OperatorSource(found, path, wishes)


def _module(path: str) -> ModuleType:
    """The file as a module; the files beside it can be imported, as when Python runs it."""
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    name = f"ascir_run_{os.path.basename(path).removesuffix('.py')}"
    spec = spec_from_file_location(name, path)
    assert spec and spec.loader
    module = sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class OperatorSource:
    """A `@hybrid_operator` of a Python file."""

    def __init__(self, operator: HybridOperator, path: str, wishes: Wishes):
        _refuse_sync(path, wishes)
        if wishes.block_dim is not None:
            operator.options = replace(operator.options, block_dim=wishes.block_dim)
        self._operator = operator
        self._path = path

    def compiled(self, inputs: Sequence[Input]) -> Compiled:
        with blame_author(self._path):
            return self._operator.compile(*inputs)

    def results(self, inputs: Sequence[Input]) -> list[Array]:
        with blame_author(self._path):
            return list(_leaves(self._operator(*inputs)))

    def profile(self, inputs: Sequence[Input]) -> Profile:
        with blame_author(self._path):
            return self._operator.profile(*inputs)


def _refuse_sync(path: str, wishes: Wishes) -> None:
    if wishes.sync is not None:
        raise UsageError(f"--sync is for kernels; the compiler orders the pipes of a function such as that of {path}")


def _leaves(value: Any) -> Generator[Array]:
    """The arrays in what a function returned: one, or tuples, lists and dicts of them."""
    if isinstance(value, dict):
        value = list(cast(dict[Any, Any], value).values())
    if isinstance(value, tuple | list):
        for part in cast(Sequence[Any], value):
            yield from _leaves(part)
    else:
        yield np.asarray(value)


# Textual IR


def _from_text(text: bytes, path: str, name: str | None, wishes: Wishes) -> Source:
    module = parse_module(text, path)
    verify_module(module)
    known: dict[str, Callable[[], Source]] = {}
    for op in module.ops:
        if isinstance(op, KernelOp):
            kernel = op.sym_name.data
            known[kernel] = lambda kernel=kernel: KernelSource(Kernel.parse(text, kernel, filename=path), wishes)
        elif isinstance(op, FuncOp):
            known[op.sym_name.data] = lambda op=op: FunctionSource(op, path, wishes)
    return _pick(path, name, known, "function or kernel")()


class KernelSource:
    """A kernel: its inputs are its arguments in order, with or without the arrays it only writes."""

    def __init__(self, kernel: Kernel, wishes: Wishes):
        if wishes.sync is not None:
            kernel = Kernel(kernel.module, kernel.parameters, sync=wishes.sync, target=kernel.target)
        self._kernel = kernel
        self._block_dim = wishes.block_dim

    def compiled(self, inputs: Sequence[Input]) -> Compiled:
        return self._kernel.compiled

    def results(self, inputs: Sequence[Input]) -> list[Array]:
        arguments = self._arguments(inputs)
        self._kernel.launch(arguments, self._block_dim)
        return [cast(Array, a) for p, a in zip(self._kernel.parameters, arguments, strict=True) if p.output]

    def profile(self, inputs: Sequence[Input]) -> Profile:
        return self._kernel.launch(self._arguments(inputs), self._block_dim, trace=True)

    def _arguments(self, inputs: Sequence[Input]) -> list[Any]:
        """The inputs, with arrays of zeros for the outputs where none are given."""
        parameters = self._kernel.parameters
        needed = [p for p in parameters if not p.output]
        if len(inputs) == len(parameters):
            return [v.copy() if p.output and isinstance(v, np.ndarray) else v for p, v in zip(parameters, inputs, strict=True)]
        if len(inputs) != len(needed):
            takes = ", ".join(f"{p} (output)" if p.output else str(p) for p in parameters)
            raise UsageError(f"{self._kernel.name} takes {takes}: {len(needed)} inputs without the outputs; got {len(inputs)}")
        given = iter(inputs)
        values: list[Any] = [None if p.output else next(given) for p in parameters]
        for number, parameter in enumerate(parameters):
            if parameter.output:
                values[number] = np.zeros(self._sizes(number, values), parameter.dtype.to_numpy())
        return values

    def _sizes(self, number: int, values: Sequence[Any]) -> list[int]:
        """The shape of an output: as declared, unknown sizes taken from the first input of the same rank."""
        parameter = self._kernel.parameters[number]
        sizes: list[int] = []
        for axis, extent in enumerate(parameter.extents or ()):
            if isinstance(extent, tuple):
                terms, constant = extent
                extent = sum(factor * int(values[argument]) for argument, factor in terms) + constant
            if extent is None:
                rank = len(parameter.extents or ())
                like = next((cast(Array, v) for v in values if isinstance(v, np.ndarray) and v.ndim == rank), None)
                if like is None:
                    raise UsageError(f"the size of the output {parameter} is unknown; give an --input for every argument")
                extent = like.shape[axis]
            sizes.append(extent)
        return sizes


class FunctionSource:
    """A function of `ascend` ops on tensors, apart from what else its file holds; sizes it leaves open are those of the inputs."""

    def __init__(self, function: FuncOp, path: str, wishes: Wishes):
        _refuse_sync(path, wishes)
        self._function = function.clone()
        self._module = ModuleOp([self._function])
        self._module.location = function.location
        self._block_dim = wishes.block_dim

    def compiled(self, inputs: Sequence[Input]) -> Any:
        from ascir.compile import compile_module

        self._specialize(inputs)
        return compile_module(self._module, name=self._function.sym_name.data, block_dim=self._block_dim)

    def results(self, inputs: Sequence[Input]) -> list[Array]:
        compiled = self.compiled(inputs)
        outputs = self._outputs(compiled.module)
        compiled.run([np.ascontiguousarray(v) for v in inputs], outputs)
        return outputs

    def profile(self, inputs: Sequence[Input]) -> Profile:
        compiled = self.compiled(inputs)
        return compiled.profile([np.ascontiguousarray(v) for v in inputs], self._outputs(compiled.module))

    def _specialize(self, inputs: Sequence[Input]) -> None:
        """Check the inputs against the function's arguments and give those their sizes."""
        arguments = self._function.args
        takes = ", ".join(f"%{a.name_hint}: {a.type}" for a in arguments)
        if len(inputs) != len(arguments):
            raise UsageError(f"@{self._function.sym_name.data} takes {takes}; got {len(inputs)} inputs")
        for argument, value in zip(arguments, inputs, strict=True):
            element, shape = dtype_of(tensor_type(argument)), shape_of(argument)
            if not isinstance(value, np.ndarray | TensorSpec) or value.dtype != element.to_numpy() or not _fits(shape, value.shape):
                raise UsageError(f"@{self._function.sym_name.data} takes {takes}; got {_described(value)} for %{argument.name_hint}")
            Rewriter.replace_value_with_new_type(argument, tensor([d for d in value.shape if d is not None], element))
        self._function.update_function_type()

    def _outputs(self, compiled: ModuleOp) -> list[Array]:
        """New arrays for the results: the arguments that the host function has gained."""
        name = self._function.sym_name.data
        host = next(op for op in compiled.ops if isinstance(op, FuncOp) and op.sym_name.data == name)
        results = host.args[len(self._function.args) :]
        return [np.empty(shape_of(r), dtype_of(r.type).to_numpy()) for r in results]


def _fits(declared: Sequence[int], given: Sequence[int | None]) -> bool:
    return len(declared) == len(given) and all(d in (DYNAMIC_INDEX, g) and g is not None for d, g in zip(declared, given, strict=True))


def _described(value: Input) -> str:
    if isinstance(value, np.ndarray | TensorSpec):
        return f"{value.dtype.name}[{', '.join(map(str, value.shape))}]"
    return str(value)
