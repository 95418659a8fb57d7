"""IR → C: one statement an instruction, in the vocabulary authors know, a comment naming the source line.

The printer walks a kernel once. A buffer value is an expression of its pointer with its sizes and strides, so views cost no
statement; scalars become `const` variables, constants literals. It also keeps which C line came from which op, by which the
emulator's faults and trace find their way back to the author's file. Read `runtime/ascir_core.h` for the vocabulary.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
    i1,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from ascir.backend_c.origins import Origins
from ascir.diagnostics import file_position, location_text
from ascir.dialects import ascend, memory
from ascir.dialects.types import Buffer, buffer_type, dtype_of, strides_of_buffer
from ascir.dialects.vector import BlockBroadcastOp, CastOp, ReduceOp, VectorOp
from ascir.machine.dtypes import DType, round_to
from ascir.machine.layout import num_elements


@dataclass(frozen=True)
class Argument:
    """A kernel parameter: a GM buffer (`dtype` of its elements, `writable` if the kernel stores to it) or a scalar."""

    name: str
    dtype: str
    is_buffer: bool
    writable: bool = False
    shape: tuple[int, ...] = ()


@dataclass
class KernelSource:
    """One kernel as the back end knows it."""

    name: str
    block_dim: int
    arguments: list[Argument]


@dataclass
class EmittedC:
    """C text, the kernels in it, and C line → source."""

    source: str
    kernels: dict[str, KernelSource]
    origins: Origins


def _place(op: Operation) -> str:
    """`gelu.py:12`, or an empty string where nothing is known."""
    return "" if file_position(op.location) is None else location_text(op.location)


def emit_module(module: ModuleOp) -> EmittedC:
    """The C of every `ascend.kernel` in the module.

    PassFailedException for an op that has no C form.
    """
    printer = _Printer()
    printer.line('#include "ascir_core.h"')
    kernels: dict[str, KernelSource] = {}
    for op in module.ops:
        if isinstance(op, ascend.KernelOp):
            printer.line("")
            kernels[op.sym_name.data] = printer.kernel(op)
    source = "\n".join(printer.lines) + "\n"
    return EmittedC(source, kernels, Origins(source, printer.locations, printer.operations, module))


_RESERVED = frozenset(
    "auto bool break case char const continue default do double else enum extern float for goto half if inline int long"
    " register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while"
    " bfloat16_t main asm typeof true false NULL INFINITY NAN".split()
)


@dataclass
class _Scope:
    """Names of one kernel's values."""

    names: dict[SSAValue, str] = field(default_factory=lambda: dict[SSAValue, str]())
    taken: set[str] = field(default_factory=lambda: set(_RESERVED))

    def fresh(self, hint: str | None) -> str:
        """A C identifier near the hint that is not taken."""
        stem = re.sub(r"\W", "_", hint or "v", flags=re.ASCII)
        if not hint or stem[0].isdigit() or stem.startswith(("__", "ascir", "PIPE_", "ROUND_")):
            stem = f"v{stem.strip('_')}" if hint else "v"
        name, number = stem, 0
        while name in self.taken or (name == "v" and not hint):
            number += 1
            name = f"{stem}{number}" if not hint else f"{stem}_{number}"
        self.taken.add(name)
        return name


@dataclass(frozen=True)
class _Pointer:
    """A buffer value: pointer expression, sizes and strides as C expressions."""

    base: str
    offset: str
    sizes: tuple[str, ...]
    strides: tuple[str, ...]
    dtype: DType

    @property
    def text(self) -> str:
        return self.base if self.offset == "0" else f"{self.base} + {self.offset}"

    @property
    def factor(self) -> str:
        return self.text if self.offset == "0" else f"({self.text})"


def _are_runs(*pointers: _Pointer) -> bool:
    """Equally many contiguous elements each: one count says it all. Else each operand gives its extents, for the emulator to compare."""
    first = pointers[0].sizes
    return len(first) == 1 and all(p.sizes == first and "1" in (*p.strides, *first) for p in pointers)


class _Printer:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.locations: dict[int, str] = {}
        self.operations: dict[int, Operation] = {}
        self.depth = 0
        self.scope = _Scope()
        self.pointers: dict[SSAValue, _Pointer] = {}

    def line(self, text: str, op: Operation | None = None) -> None:
        if op is not None:
            place = _place(op)
            self.locations[len(self.lines) + 1] = place
            self.operations[len(self.lines) + 1] = op
            if place:
                text = f"{text}  // {place}"
        self.lines.append("  " * self.depth + text if text else "")

    # kernels

    def kernel(self, op: ascend.KernelOp) -> KernelSource:
        self.scope, self.pointers = _Scope(), {}
        written = _written_arguments(op)
        name = op.sym_name.data
        symbol = self.scope.fresh(name)
        arguments = [self._argument(v, v in written) for v in op.args]
        parameters = ", ".join(self._declaration(v, a) for v, a in zip(op.args, arguments, strict=True))
        self.line(f"// {name}: block_dim {op.block_dim.value.data}")
        self.line(f"static __aicore__ void {symbol}({parameters or 'void'}) {{", op)
        self._body(op.body.block.ops)
        self.line("}")
        values = ", ".join(self._actual(k, a) for k, a in enumerate(arguments))
        self.line(f"ASCIR_KERNEL({symbol}) {{ {symbol}({values}); }}")
        return KernelSource(symbol, op.block_dim.value.data, arguments)

    def _argument(self, value: SSAValue, written: bool) -> Argument:
        name = self.scope.fresh(value.name_hint or "arg")
        self.scope.names[value] = name
        if not isinstance(value.type, MemRefType):
            return Argument(name, _scalar_name(value.type), False)
        type_ = buffer_type(value)
        self.pointers[value] = _Pointer(name, "0", *self._static(type_), dtype_of(type_))
        return Argument(name, dtype_of(type_).name, True, written, type_.get_shape())

    def _static(self, type_: Buffer) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Sizes and strides of a type; `?` where unknown (an op that needs one must look through a view)."""
        sizes = tuple("?" if d == DYNAMIC_INDEX else str(d) for d in type_.get_shape())
        return sizes, tuple("?" if s == DYNAMIC_INDEX else str(s) for s in strides_of_buffer(type_))

    def _declaration(self, value: SSAValue, argument: Argument) -> str:
        if not argument.is_buffer:
            return f"{_scalar_c(value.type)} {argument.name}"
        const = "" if argument.writable else "const "
        return f"__gm__ {const}{self.pointers[value].dtype.c} *{argument.name}"

    def _actual(self, number: int, argument: Argument) -> str:
        if not argument.is_buffer:
            return f"__arg({number}).{'f' if argument.dtype.startswith(('f', 'b')) else 'i'}"
        return f"__arg({number}).p"

    def _body(self, ops: Iterable[Operation]) -> None:
        self.depth += 1
        for op in ops:
            self.op(op)
        self.depth -= 1

    # ops

    def op(self, op: Operation) -> None:
        if isinstance(op, VectorOp):
            return self._vector(op)
        handler = _HANDLERS.get(type(op))
        if handler is not None:
            return handler(self, op)
        template = _ARITH.get(type(op))
        if template is None:
            raise PassFailedException(f"c: {op.name} has no C form in a kernel ({location_text(op.location)})")
        self._assign(op, template.format(*(self.value(v) for v in op.operands)))

    def value(self, value: SSAValue) -> str:
        """A scalar as a C expression."""
        owner = value.owner
        if isinstance(owner, arith.ConstantOp):
            return _literal(owner.value, value.type)
        if isinstance(owner, ascend.BlockIdxOp):
            return "__block_idx"
        if isinstance(owner, ascend.BlockNumOp):
            return "__block_num"
        return self.scope.names[value]

    def _name(self, value: SSAValue) -> str:
        name = self.scope.fresh(value.name_hint)
        self.scope.names[value] = name
        return name

    def _assign(self, op: Operation, expression: str) -> None:
        result = op.results[0]
        text = _wrapped(expression, result.type)
        self.line(f"const {_scalar_c(result.type)} {self._name(result)} = {text};")

    # buffers

    def pointer(self, value: SSAValue) -> _Pointer:
        return self.pointers[value]

    def alloc(self, op: memory.AllocOp) -> None:
        if op.offset is None:
            raise PassFailedException(f'c: buffer "{op.label.data}" has no offset yet; run plan-memory')
        type_ = buffer_type(op.memref)
        element = dtype_of(type_)
        name = self._name(op.memref)
        size = num_elements(type_.get_shape())
        label = re.sub(r'["\\\n]', "_", op.label.data)
        call = f'__alloc_ub({element.c}, {op.offset.value.data}, {size}, "{label}")'
        self.line(f"__local__ {element.c} *{name} = {call};", op)
        self.pointers[op.memref] = _Pointer(name, "0", *self._static(type_), element)

    def view(self, op: memory.ViewOp) -> None:
        source = self.pointer(op.source)
        offset = self._index(op.mixed_offset)
        if offset == "0":
            offset = source.offset
        elif source.offset != "0":
            offset = f"{source.offset} + {offset}"
        sizes, strides = (tuple(self._index(v) for v in part) for part in (op.mixed_sizes, op.mixed_strides))
        self.pointers[op.result] = _Pointer(source.base, offset, sizes, strides, source.dtype)

    def _index(self, value: SSAValue | int) -> str:
        return str(value) if isinstance(value, int) else self.value(value)

    def _tile(self, pointer: _Pointer) -> str:
        """A 2-d operand: `__t(pointer, rows, cols, row stride, column stride)`."""
        sizes = ("1", *pointer.sizes)[-2:]
        strides = ("0", *pointer.strides)[-2:]
        self._known(pointer)
        return f"__t({pointer.text}, {sizes[0]}, {sizes[1]}, {strides[0]}, {strides[1]})"

    def _count(self, pointer: _Pointer) -> str:
        self._known(pointer)
        return pointer.sizes[-1] if pointer.sizes else "1"

    def _known(self, pointer: _Pointer) -> None:
        if "?" in (*pointer.sizes, *pointer.strides):
            raise PassFailedException(f"c: {pointer.base} has unknown dimensions; take an ascend_memory.view with sizes first")

    # copies, flags

    def copy(self, op: memory.CopyOp) -> None:
        source, target = self.pointer(op.source), self.pointer(op.destination)
        if _are_runs(source, target):
            size = f"{self._count(source)} * sizeof({source.dtype.c})"
            self.line(f"__memcpy_async({target.text}, {source.text}, {size});", op)
        else:
            self.line(f"__memcpy_async_2d({self._tile(target)}, {self._tile(source)});", op)

    def scalar_copy(self, op: memory.ScalarCopyOp) -> None:
        source, target = self.pointer(op.source), self.pointer(op.destination)
        self.line(f"__scalar_copy({self._tile(target)}, {self._tile(source)});", op)

    def set_flag(self, op: memory.SetFlagOp) -> None:
        self._flag("__set_flag", op, op.key)

    def wait_flag(self, op: memory.WaitFlagOp) -> None:
        self._flag("__wait_flag", op, op.key)

    def _flag(self, name: str, op: Operation, key: tuple[memory.Pipe, memory.Pipe, int]) -> None:
        source, target, event = key
        self.line(f"{name}({_pipe(source)}, {_pipe(target)}, {event});", op)

    def barrier(self, op: memory.BarrierOp) -> None:
        self.line(f"__pipe_barrier({_pipe(op.pipe.data)});", op)

    # instructions

    def _vector(self, op: VectorOp) -> None:
        name = f"__hcc_{op.row.name}"
        target = self.pointer(op.destination)
        sources = [self.pointer(v) for v in op.sources]
        if isinstance(op, ReduceOp):
            work = self.pointer(op.work)
            for written in (target, work):
                self._has_strides(op, written, "1")
            call = f"{target.text}, {self._tile(sources[0])}, {work.text}, {self._count(work)}, {op.axis.value.data}"
            return self.line(f"{name}({call});", op)
        if isinstance(op, BlockBroadcastOp):
            self._has_strides(op, target, str(target.dtype.c0), "1")
            return self.line(f"{name}({target.text}, {sources[0].text}, {self._count(sources[0])});", op)
        extra = [self.value(v) for v in op.operands if not isinstance(v.type, MemRefType)]
        if isinstance(op, CastOp):
            extra.append(f"ROUND_{op.round.data.upper()}")
        compares = op.row.form in ("compare", "compare_scalar")
        masks = [target] if compares else sources[:1] if op.row.form in ("select", "select_scalar") else []
        counted = [p for p in (target, *sources) if p not in masks]
        if _are_runs(*counted) and all(map(_are_runs, masks)):
            parts = [p.text for p in (target, *sources)]
            call = ", ".join([*parts, *extra, self._count(counted[0])])
            return self.line(f"{name}({call});", op)
        parts = [self._tile(p) for p in (target, *sources)]
        self.line(f"{name}_2d({', '.join([*parts, *extra])});", op)

    def _has_strides(self, op: VectorOp, written: _Pointer, *expected: str) -> None:
        """Where the C names only a pointer, the elements lie as the instruction expects."""
        if any(s != e and n != "1" for n, s, e in zip(written.sizes, written.strides, expected, strict=True)):
            found, known = (", ".join(strides) for strides in (written.strides, expected))
            raise PassFailedException(f"c: {op.name} writes {written.base} with strides [{found}]; this instruction knows [{known}] only")

    # scalar access

    def load(self, op: memref.LoadOp) -> None:
        address = self._address(op.memref, op.indices)
        self.line(f"const {_scalar_c(op.res.type)} {self._name(op.res)} = __scalar_load({address});", op)

    def store(self, op: memref.StoreOp) -> None:
        self.line(f"__scalar_store({self._address(op.memref, op.indices)}, {self.value(op.value)});", op)

    def _address(self, buffer: SSAValue, indices: Sequence[SSAValue]) -> str:
        pointer = self.pointer(buffer)
        terms = [pointer.base]
        if pointer.offset != "0":
            terms.append(pointer.offset)
        for index, stride in zip(indices, pointer.strides, strict=True):
            if stride == "?":
                self._known(pointer)
            terms.append(self.value(index) if stride == "1" else f"{self.value(index)} * {stride}")
        return " + ".join(terms)

    # control flow

    def loop(self, op: scf.ForOp) -> None:
        block = op.body.block
        carried = self._declare_results(op)
        for result, init in zip(carried, op.iter_args, strict=True):
            self.line(f"{result} = {self.value(init)};")
        for arg, result in zip(block.args[1:], carried, strict=True):
            self.scope.names[arg] = result
        index = self._name(block.args[0])
        low, high, step = (self.value(v) for v in (op.lb, op.ub, op.step))
        head = f"for (int64_t {index} = {low}; {index} < {high}; {index} += {step}) {{"
        self.line(head, op)
        self._region(block.ops, carried)
        self.line("}")

    def branch(self, op: scf.IfOp) -> None:
        results = self._declare_results(op)
        self.line(f"if ({self.value(op.cond)}) {{", op)
        self._region(op.true_region.block.ops, results)
        if op.false_region.blocks:
            self.line("} else {")
            self._region(op.false_region.block.ops, results)
        self.line("}")

    def _declare_results(self, op: Operation) -> list[str]:
        names: list[str] = []
        for result in op.results:
            names.append(self._name(result))
            self.line(f"{_scalar_c(result.type)} {names[-1]};")
        return names

    def _region(self, ops: Iterable[Operation], results: Sequence[str]) -> None:
        self.depth += 1
        for op in ops:
            if isinstance(op, scf.YieldOp):
                self._yield(op, results)
            else:
                self.op(op)
        self.depth -= 1

    def _yield(self, op: scf.YieldOp, results: Sequence[str]) -> None:
        """All at once: a yielded value may be another result's old value."""
        values = [self.value(v) for v in op.arguments]
        if len(values) > 1:
            names = [self.scope.fresh("next") for _ in values]
            for name, value, operand in zip(names, values, op.arguments, strict=True):
                self.line(f"const {_scalar_c(operand.type)} {name} = {value};")
            values = names
        for result, value in zip(results, values, strict=True):
            self.line(f"{result} = {value};")

    def select(self, op: arith.SelectOp) -> None:
        a, b, c = (self.value(v) for v in op.operands)
        self._assign(op, f"{a} ? {b} : {c}")

    def compare_int(self, op: arith.CmpiOp) -> None:
        predicate = op.predicate.value.data
        a, b = (self.value(v) for v in op.operands)
        if predicate >= 6:
            a, b = f"(uint64_t){a}", f"(uint64_t){b}"
        self._assign(op, f"{a} {_CMPI[predicate]} {b}")

    def compare_float(self, op: arith.CmpfOp) -> None:
        a, b = (self.value(v) for v in op.operands)
        predicate = op.predicate.value.data
        if predicate not in _CMPF:
            raise PassFailedException(f"c: arith.cmpf predicate {predicate} has no C form; use an ordered comparison or une")
        self._assign(op, f"{a} {_CMPF[predicate]} {b}")

    def nothing(self, op: Operation) -> None:
        """Constants and core numbers are written where they are used; terminators are the closing brace."""


_CMPI = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")
_CMPF = {1: "==", 2: ">", 3: ">=", 4: "<", 5: "<=", 13: "!="}

_HANDLERS: dict[type[Operation], Callable[..., None]] = {
    memory.AllocOp: _Printer.alloc,
    memory.ViewOp: _Printer.view,
    memory.CopyOp: _Printer.copy,
    memory.ScalarCopyOp: _Printer.scalar_copy,
    memory.SetFlagOp: _Printer.set_flag,
    memory.WaitFlagOp: _Printer.wait_flag,
    memory.BarrierOp: _Printer.barrier,
    memref.LoadOp: _Printer.load,
    memref.StoreOp: _Printer.store,
    scf.ForOp: _Printer.loop,
    scf.IfOp: _Printer.branch,
    arith.ConstantOp: _Printer.nothing,
    arith.SelectOp: _Printer.select,
    arith.CmpiOp: _Printer.compare_int,
    arith.CmpfOp: _Printer.compare_float,
    ascend.BlockIdxOp: _Printer.nothing,
    ascend.BlockNumOp: _Printer.nothing,
    ascend.ReturnOp: _Printer.nothing,
}

_ARITH: dict[type[Operation], str] = {
    arith.AddiOp: "{} + {}",
    arith.SubiOp: "{} - {}",
    arith.MuliOp: "{} * {}",
    arith.DivSIOp: "__div({}, {})",
    arith.RemSIOp: "__rem({}, {})",
    arith.FloorDivSIOp: "__floor_div({}, {})",
    arith.CeilDivSIOp: "__ceil_div({}, {})",
    arith.MinSIOp: "__min({}, {})",
    arith.MaxSIOp: "__max({}, {})",
    arith.AndIOp: "{} & {}",
    arith.OrIOp: "{} | {}",
    arith.XOrIOp: "{} ^ {}",
    arith.ShLIOp: "{} << {}",
    arith.ShRSIOp: "{} >> {}",
    arith.IndexCastOp: "{}",
    arith.ExtSIOp: "{}",
    arith.TruncIOp: "{}",
    arith.SIToFPOp: "(float){}",
    arith.FPToSIOp: "(int64_t){}",
    arith.ExtFOp: "{}",
    arith.TruncFOp: "{}",
    arith.AddfOp: "{} + {}",
    arith.SubfOp: "{} - {}",
    arith.MulfOp: "{} * {}",
    arith.DivfOp: "{} / {}",
    arith.NegfOp: "-{}",
    arith.MaximumfOp: "__max({}, {})",
    arith.MinimumfOp: "__min({}, {})",
}


def _pipe(pipe: memory.Pipe) -> str:
    return f"PIPE_{pipe.value.upper()}"


def _written_arguments(kernel: ascend.KernelOp) -> set[SSAValue]:
    """GM arguments that some copy stores to, through whatever views."""
    written: set[SSAValue] = set()
    for op in kernel.walk():
        target = op.destination if isinstance(op, memory.CopyOp | memory.ScalarCopyOp) else None
        if isinstance(op, memref.StoreOp):
            target = op.memref
        if target is None:
            continue
        while isinstance(target.owner, memory.ViewOp):
            target = target.owner.source
        written.add(target)
    return written


def _scalar_name(type_: Attribute) -> str:
    return "index" if isinstance(type_, IndexType) else dtype_of(type_).name


def _scalar_c(type_: Attribute) -> str:
    """Scalars live in 64-bit integers or in float registers; comparisons in bool."""
    if isinstance(type_, IndexType):
        return "int64_t"
    element = dtype_of(type_)
    if element.kind == "bool":
        return "bool"
    return "float" if element.is_float else "int64_t"


def _wrapped(expression: str, type_: Attribute) -> str:
    """Round or wrap what the register is wider than."""
    if isinstance(type_, IntegerType) and type_.bitwidth in (8, 16, 32):
        return f"(int{type_.bitwidth}_t)({expression})"
    if not isinstance(type_, IndexType | IntegerType):
        name = dtype_of(type_).name
        if name in ("f16", "bf16"):
            return f"__round_{name}({expression})"
    return expression


def _literal(value: Attribute, type_: Attribute) -> str:
    if isinstance(value, FloatAttr):
        return _float_literal(round_to(value.value.data, dtype_of(type_)))
    if not isinstance(value, IntegerAttr):
        raise PassFailedException(f"c: constant {value} is not a number")
    number = value.value.data
    if type_ == i1:
        return "true" if number else "false"
    if number == -(2**63):
        return "INT64_MIN"
    return str(number) if abs(number) < 2**31 else f"INT64_C({number})"


def _float_literal(value: float) -> str:
    if value != value:
        return "NAN"
    if value in (float("inf"), float("-inf")):
        return "INFINITY" if value > 0 else "-INFINITY"
    return f"{value!r}f"
