"""From a fused group to loop nests: which window each operand is read through, and what one tile computes.

A group is a block of `ascend` ops. Its views (broadcast, reshape, transpose, slice of block arguments) become windows; its operators
become a `Program`. `concat` and `pad` become several nests, one a piece of the result. `fuse-operators` asks `nests_of` whether a group
can be lowered at all, so that every group it makes can be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ascir.dialects import ascend, inference
from ascir.dialects.types import shape_of
from ascir.machine.layout import View, num_elements
from ascir.machine.target import Target
from ascir.passes.tile_to_kernel.program import Extent, Lowering, Number, Program, Value, element_of
from ascir.passes.tile_to_kernel.space import Mode, Space, Window, expand_reduced, is_run, is_trailing, merge, reduced_shape
from ascir.passes.tile_to_kernel.tiling import fits

VIEW_OPS = (ascend.BroadcastOp, ascend.ReshapeOp, ascend.TransposeOp, ascend.SliceOp)


class NotLowerable(Exception):
    """The group cannot be one kernel; the message says why. `fuse-operators` then makes smaller groups."""


@dataclass
class Nest:
    """One loop nest: its space and the program of a tile."""

    space: Space
    program: Program


def view_through(op: Operation, view: View) -> View | None:
    """The window a view op makes of a window; None where strides cannot express a reshape."""
    match op:
        case ascend.BroadcastOp():
            return view.broadcast(shape_of(op.result))
        case ascend.ReshapeOp():
            return view.reshape(shape_of(op.result))
        case ascend.TransposeOp():
            return view.transpose(op.permutation.get_values())
        case ascend.SliceOp():
            return view.slice(op.starts.get_values(), op.sizes.get_values(), op.steps.get_values())
        case _:
            raise AssertionError(op.name)


@dataclass
class _Domain:
    """The full shape of a group and the axes it reduces (none for an element-wise group)."""

    shape: tuple[int, ...]
    axes: tuple[int, ...] = ()

    def is_reduced(self, shape: Sequence[int]) -> bool:
        return bool(self.axes) and num_elements(shape) == num_elements(reduced_shape(self.shape, self.axes))


@dataclass
class _Group:
    """What the walk over a block finds."""

    domain: _Domain
    views: dict[SSAValue, tuple[int, View]] = field(default_factory=lambda: dict[SSAValue, tuple[int, View]]())
    constants: dict[SSAValue, Number] = field(default_factory=lambda: dict[SSAValue, Number]())
    iotas: dict[SSAValue, View] = field(default_factory=lambda: dict[SSAValue, View]())
    compute: list[Operation] = field(default_factory=lambda: list[Operation]())


def nests_of(block: Block, stores: Sequence[View], target: Target) -> list[Nest]:
    """The nests of a group whose results are written through `stores` (contiguous windows of the results).

    Raises NotLowerable.
    """
    last = block.last_op
    assert isinstance(last, ascend.YieldOp)
    pieces = [op for op in block.ops if isinstance(op, ascend.ConcatOp | ascend.PadOp)]
    if pieces:
        return _piecewise(block, pieces[0], stores[0], target)
    group = _walk(block)
    results = [(value, store, k) for k, (value, store) in enumerate(zip(last.values, stores, strict=True))]
    return [_lower(group, results, last.location, target)]


def _walk(block: Block) -> _Group:
    group = _Group(_domain(block))
    for number, arg in enumerate(block.args):
        group.views[arg] = (number, View.contiguous(shape_of(arg)))
    for op in block.ops:
        _visit(op, group)
    return group


def _visit(op: Operation, group: _Group) -> None:
    if isinstance(op, ascend.YieldOp | ascend.ConcatOp | ascend.PadOp):
        return
    if isinstance(op, ascend.ConstantOp):
        number = op.number
        if number is None:
            raise NotLowerable("dense constants are buffers of their own")
        group.constants[op.result] = number
    elif isinstance(op, ascend.IotaOp):
        shape, axis = shape_of(op.result), op.axis.value.data % len(shape_of(op.result))
        group.iotas[op.result] = View(shape, tuple(int(k == axis) for k in range(len(shape))))
    elif isinstance(op, VIEW_OPS):
        _visit_view(op, group)
    else:
        group.compute.append(op)


def _visit_view(op: Operation, group: _Group) -> None:
    source, result = op.operands[0], op.results[0]
    if source in group.constants:
        group.constants[result] = group.constants[source]
    elif source in group.views:
        number, view = group.views[source]
        through = view_through(op, view)
        if through is None:
            raise NotLowerable(f"{op.name} of a strided window needs a copy")
        group.views[result] = (number, through)
    elif source in group.iotas:
        raise NotLowerable("a view of ascend.iota needs a copy")
    else:
        group.compute.append(op)


def _domain(block: Block) -> _Domain:
    reduces = [op for op in block.ops if isinstance(op, ascend.ReduceOp)]
    if not reduces:
        last = block.last_op
        assert isinstance(last, ascend.YieldOp)
        return _Domain(shape_of(last.values[0]) if last.values else ())
    shape = shape_of(reduces[0].x)
    axes = tuple(reduces[0].axes.get_values())
    for op in reduces:
        if shape_of(op.x) != shape or tuple(op.axes.get_values()) != axes:
            raise NotLowerable("reductions over different axes")
    if not is_run(shape, axes):
        raise NotLowerable("reduced axes that are not neighbours")
    return _Domain(shape, axes)


def _spreads(group: _Group) -> bool:
    """Whether a reduced value is broadcast back over its row: then the row must be on chip as a whole."""
    return any(isinstance(op, ascend.BroadcastOp) for op in group.compute)


def _modes(group: _Group) -> list[Mode]:
    """The ways to cut the domain, best first."""
    domain = group.domain
    if not domain.axes:
        return ["elementwise"]
    if not is_trailing(domain.shape, domain.axes):
        if _spreads(group):
            raise NotLowerable("a value reduced along outer axes is broadcast back")
        return ["columns"]
    return ["rows"] if _spreads(group) else ["rows", "chunks"]


def _lower(group: _Group, results: Sequence[tuple[SSAValue, View, int]], location: LocationAttr, target: Target) -> Nest:
    domain = group.domain
    for mode in _modes(group):
        nest = _lower_as(mode, group, results, location)
        if fits(nest.space, nest.program, target):
            return nest
    raise NotLowerable(f"one row of {num_elements([domain.shape[a] for a in domain.axes])} elements does not fit in UB")


def _lower_as(mode: Mode, group: _Group, results: Sequence[tuple[SSAValue, View, int]], location: LocationAttr) -> Nest:
    domain = group.domain
    for op in group.compute:
        _check_shape(op, domain)
    used = {v for op in group.compute for v in op.operands} | {v for v, _, _ in results}
    reads = {v: (number, _full(view, domain)) for v, (number, view) in group.views.items() if v in used}
    counters = {v: _full(view, domain) for v, view in group.iotas.items() if v in used}
    writes = [_full(view, domain) for _, view, _ in results]
    views = [view for _, view in reads.values()] + list(counters.values()) + writes
    merged = merge(domain.shape, domain.axes, views, mode)
    if merged is None:
        raise NotLowerable("a window does not walk the reduced axes as one")
    space, windows = merged
    remaining = iter(windows)
    loads = {v: (number, next(remaining)) for v, (number, _) in reads.items()}
    indices = {v: next(remaining) for v in counters}
    builder = _Builder(group, space, loads, indices, location)
    for op in group.compute:
        builder.visit(op)
    for value, _, number in results:
        builder.store(value, number, next(remaining))
    return Nest(space, builder.lowering.program)


def _full(view: View, domain: _Domain) -> View:
    """A window in the dimensions of the whole domain."""
    if view.shape == domain.shape:
        return view
    kept = reduced_shape(domain.shape, domain.axes)
    through = view.reshape(kept) if domain.is_reduced(view.shape) else None
    if through is None:
        raise NotLowerable(f"a value of shape {inference.text(view.shape)} in a group over {inference.text(domain.shape)}")
    return expand_reduced(through, domain.shape, domain.axes)


def _check_shape(op: Operation, domain: _Domain) -> None:
    """Every value computed in the group is full-size or reduced, and a reduced one spreads back only along its own axes."""
    shape = shape_of(op.results[0])
    if shape != domain.shape and not domain.is_reduced(shape):
        raise NotLowerable(f"{op.name} gives {inference.text(shape)} in a group over {inference.text(domain.shape)}")
    if isinstance(op, ascend.BroadcastOp) and shape == domain.shape:
        keepdims = tuple(1 if k in domain.axes else d for k, d in enumerate(domain.shape))
        if shape_of(op.x) not in (shape, keepdims):
            raise NotLowerable(f"{op.name} repeats {inference.text(shape_of(op.x))} along other axes than those reduced")


class _Builder:
    """Feeds a group's ops to the lowering, loading each operand where it is first needed."""

    def __init__(
        self,
        group: _Group,
        space: Space,
        loads: dict[SSAValue, tuple[int, Window]],
        indices: dict[SSAValue, Window],
        location: LocationAttr,
    ):
        self.group = group
        self.lowering = Lowering(space)
        self.lowering.location = location
        self.loads = loads
        self.indices = indices
        self.values: dict[SSAValue, Value] = dict(group.constants)
        self.loaded: dict[tuple[int, Window, bool], Value] = {}

    def _is_reduced(self, value: SSAValue) -> bool:
        return self.group.domain.is_reduced(shape_of(value))

    def _enter(self, reduced: bool) -> None:
        """Reduced values of a chunked reduction are computed after its inner loop."""
        program = self.lowering.program
        after = reduced and self.lowering.space.mode in ("chunks", "columns")
        self.lowering.section = program.last if after else program.body

    def _extent(self, reduced: bool) -> Extent:
        if not reduced:
            return "tile"
        return "cols" if self.lowering.space.mode == "columns" else "rows"

    def value(self, value: SSAValue, reduced: bool) -> Value:
        if value in self.values:
            return self.values[value]
        if value in self.indices:
            self.values[value] = self.lowering.iota(element_of(value), self.indices[value])
            return self.values[value]
        number, window = self.loads[value]
        key = (number, window, reduced)
        if key not in self.loaded:
            self.loaded[key] = self.lowering.load(_name(value), element_of(value), number, window)
        return self.loaded[key]

    def visit(self, op: Operation) -> None:
        result = op.results[0]
        reduced = self._is_reduced(result)
        self.lowering.location = op.location
        if isinstance(op, ascend.ReduceOp):
            self._enter(False)
            source = self.value(op.x, False)
            self.values[result] = self.lowering.reduce(op, source)
            return
        self._enter(reduced)
        operands = [self.value(v, reduced) for v in op.operands]
        if isinstance(op, ascend.BroadcastOp | ascend.ReshapeOp):
            self.values[result] = operands[0]
        else:
            self.values[result] = self.lowering.operator(op, operands, self._extent(reduced))

    def store(self, value: SSAValue, number: int, window: Window) -> None:
        reduced = self._is_reduced(value)
        self._enter(reduced)
        found = self.value(value, reduced)
        self.lowering.store(found, element_of(value), self._extent(reduced), number, window)


def _name(value: SSAValue) -> str:
    """A readable name for a loaded operand: that of the block argument beneath its views."""
    while not isinstance(value, BlockArgument) and isinstance(value.owner, Operation) and value.owner.operands:
        value = value.owner.operands[0]
    return value.name_hint or "x"


def _piecewise(block: Block, op: Operation, store: View, target: Target) -> list[Nest]:
    """`concat` copies each input into its slice; `pad` fills the border in disjoint slabs and copies the middle."""
    parts = _concat_parts(op, store) if isinstance(op, ascend.ConcatOp) else _pad_parts(op, store)
    nests: list[Nest] = []
    for value, window in parts:
        if num_elements(window.shape) == 0:
            continue
        group = _walk(block)
        group.domain = _Domain(window.shape)
        group.compute.clear()
        if not isinstance(value, SSAValue):
            group.constants[op.results[0]] = value
            value = op.results[0]
        nests.append(_lower(group, [(value, window, 0)], op.location, target))
    return nests


def _concat_parts(op: ascend.ConcatOp, store: View) -> list[tuple[SSAValue | Number, View]]:
    axis = op.axis.value.data % len(store.shape)
    parts: list[tuple[SSAValue | Number, View]] = []
    start = 0
    for value in op.inputs:
        sizes = shape_of(value)
        starts = [start if k == axis else 0 for k in range(len(sizes))]
        parts.append((value, store.slice(starts, sizes, [1] * len(sizes))))
        start += sizes[axis]
    return parts


def _pad_parts(op: Operation, store: View) -> list[tuple[SSAValue | Number, View]]:
    assert isinstance(op, ascend.PadOp)
    low, shape = op.low.get_values(), shape_of(op.x)
    number = op.value.value.data
    rank = len(shape)
    starts, sizes = [0] * rank, list(store.shape)
    parts: list[tuple[SSAValue | Number, View]] = []
    for k in range(rank):
        for begin, size in ((0, low[k]), (low[k] + shape[k], store.shape[k] - low[k] - shape[k])):
            slab_starts, slab_sizes = [*starts[:k], begin, *starts[k + 1 :]], [*sizes[:k], size, *sizes[k + 1 :]]
            parts.append((number, store.slice(slab_starts, slab_sizes, [1] * rank)))
        starts[k], sizes[k] = low[k], shape[k]
    parts.append((op.x, store.slice(starts, sizes, [1] * rank)))
    return parts


