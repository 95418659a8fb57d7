"""fuse-operators: groups operators whose intermediates need never reach GM; each group becomes one kernel.

    %0 = ascend.exp %x                      %r = ascend.fused (%x) {
    %1 = ascend.add %0, %y            →     ^bb0(%x_1: …): exp, add, yield
    return %1                               } : …

Every operator ends in a group, so that `tile-to-kernel` has one case. The rule: an operator joins the earliest group that comes
after all it needs, shares a producer or an input with it, and — with the operator in it — can still be one loop nest
(`tile_to_kernel.nest` decides). It does not join where shapes differ, where it needs a reduced value that is not ready within a tile (a
row too long for UB, a reduction along outer axes), or past MAX_OPS operators or MAX_BUFFERS inputs and outputs, when buffers
would leave tiles too small. Views ride along into each group that reads through them; constants and counters are cloned.

Before that, reductions are put into a form a nest can take: over one run of axes, and in parts where one core would have it all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import LocationAttr, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.passes import ModulePass

from ascir.dialects import ascend
from ascir.dialects.types import dtype_of, shape_of, tensor, tensor_type
from ascir.machine.layout import View, num_elements
from ascir.machine.target import ASCEND910B, Target, parse_target
from ascir.passes.tile_to_kernel.nest import VIEW_OPS, NotLowerable, nests_of, view_through
from ascir.passes.tile_to_kernel.space import is_run

MAX_OPS = 128
MAX_BUFFERS = 24
SPLIT_ELEMENTS = 1 << 16  # assumed: below this a second launch costs more than idle cores


def _is_leaf(value: SSAValue) -> bool:
    """A value every group can make for itself: one number everywhere, or a counter. Dense constants are memory."""
    owner = value.owner
    return isinstance(owner, ascend.IotaOp) or (isinstance(owner, ascend.ConstantOp) and owner.number is not None)


@dataclass
class _Chain:
    """A value that is a window on another: its base and the view ops between."""

    base: SSAValue
    ops: tuple[Operation, ...]
    view: View


@dataclass(eq=False)
class _Group:
    """Operators of one future kernel; a copy group has none and hands out `copied`."""

    index: int
    ops: list[Operation] = field(default_factory=lambda: list[Operation]())
    copied: SSAValue | None = None
    bases: set[SSAValue] = field(default_factory=lambda: set[SSAValue]())
    reduces: bool = False
    final: bool = False


class _Fuser:
    """Assigns the ops of one function to groups, in order."""

    def __init__(self, func: FuncOp, max_ops: int, target: Target):
        self.func = func
        self.max_ops = max_ops
        self.target = target
        self.groups: list[_Group] = []
        self.home: dict[SSAValue, _Group] = {}
        self.chains: dict[SSAValue, _Chain] = {}

    # what a value is

    def chain(self, value: SSAValue) -> _Chain | None:
        """How a value without memory of its own is read."""
        return None if value in self.home else self.chains.get(value)

    def base(self, value: SSAValue) -> SSAValue:
        chain = self.chain(value)
        return chain.base if chain else value

    def _spreads(self, value: SSAValue) -> bool:
        """A window that a group may take of a value of its own: a reduced value broadcast back."""
        chain = self.chain(value)
        return chain is not None and all(isinstance(op, ascend.BroadcastOp | ascend.ReshapeOp) for op in chain.ops)

    def ready(self, value: SSAValue) -> int:
        """The first group in which this operand can be read."""
        group = self.home.get(self.base(value))
        if group is None:
            return 0
        direct = self.chain(value) is None or self._spreads(value)
        return group.index if direct and not group.final else group.index + 1

    # placing ops

    def place(self, op: Operation) -> None:
        if isinstance(op, ascend.ConstantOp | ascend.IotaOp):
            return
        if isinstance(op, VIEW_OPS):
            self._place_view(op)
        elif isinstance(op, ascend.ConcatOp | ascend.PadOp):
            group = self._new_group(op)
            group.final = True
        else:
            self._place_compute(op)

    def _place_view(self, op: Operation) -> None:
        source, result = op.operands[0], op.results[0]
        if isinstance(source.owner, ascend.IotaOp):
            self.materialize(source)
        chain = self.chain(source) or _Chain(source, (), View.contiguous(shape_of(source)))
        through = view_through(op, chain.view)
        if through is None:
            self.materialize(source)
            chain = _Chain(source, (), View.contiguous(shape_of(source)))
            through = view_through(op, chain.view)
            assert through is not None
        self.chains[result] = _Chain(chain.base, (*chain.ops, op), through)

    def materialize(self, value: SSAValue) -> None:
        """Give a window, constant or counter memory of its own, if it has none yet."""
        if value in self.home:
            return
        group = self._new_group(None)
        group.copied = value
        group.final = True
        group.bases = {self.base(value)}
        self.home[value] = group

    def _new_group(self, op: Operation | None) -> _Group:
        group = _Group(len(self.groups))
        self.groups.append(group)
        if op is not None:
            self._join(group, op)
        return group

    def _join(self, group: _Group, op: Operation) -> None:
        group.ops.append(op)
        group.bases.update(self.base(v) for v in op.operands)
        group.reduces = group.reduces or isinstance(op, ascend.ReduceOp)
        self.home[op.results[0]] = group

    def _place_compute(self, op: Operation) -> None:
        earliest = max((self.ready(v) for v in op.operands), default=0)
        bases = {self.base(v) for v in op.operands}
        for group in self.groups[earliest:]:
            if not group.final and self._related(group, bases) and self._fits(group, op):
                self._join(group, op)
                return
        group = self._new_group(op)
        if isinstance(op, ascend.ReduceOp) and not self._lowerable(group, ()):
            self.groups.pop()
            del self.home[op.results[0]]
            self.materialize(op.x)
            self._new_group(op)

    def _related(self, group: _Group, bases: set[SSAValue]) -> bool:
        shared = bases & group.bases
        return any(self.home.get(b) is group for b in bases) or any(not _is_leaf(b) for b in shared)

    def _fits(self, group: _Group, op: Operation) -> bool:
        if len(group.ops) >= self.max_ops or len(group.bases) >= MAX_BUFFERS:
            return False
        if not group.reduces and not isinstance(op, ascend.ReduceOp) and not self._reads_window(group, op):
            return shape_of(op.results[0]) == shape_of(group.ops[0].results[0])
        return self._lowerable(group, (op,))

    def _reads_window(self, group: _Group, op: Operation) -> bool:
        """Whether the op reads a value of the group under another shape: then equal results do not make one loop nest."""
        return any(self.chain(v) is not None and self.home.get(self.base(v)) is group for v in op.operands)

    def _lowerable(self, group: _Group, more: Sequence[Operation]) -> bool:
        """Try: does the group with these ops still make one kernel?"""
        ops = [*group.ops, *more]
        members = set(ops)
        results = [op.results[0] for op in ops]
        outputs = [v for v in results if any(use.operation not in members for use in v.uses)] or results[-1:]
        empty = {num_elements(shape_of(v)) == 0 for v in results}
        if True in empty:
            return False not in empty
        for op in more:
            self.home[op.results[0]] = group
        block, _ = self.build(ops, outputs, group)
        for op in more:
            del self.home[op.results[0]]
        try:
            nests_of(block, [View.contiguous(shape_of(v)) for v in outputs], self.target)
        except NotLowerable:
            return False
        finally:
            block.erase()
        return True

    # building blocks

    def build(self, ops: Iterable[Operation], outputs: Sequence[SSAValue], group: _Group) -> tuple[Block, list[SSAValue]]:
        """The group's body, and the values of the function that its block arguments stand for."""
        builder = _BlockBuilder(self, group)
        for op in ops:
            builder.clone(op)
        return builder.finish(outputs)

    # the whole function

    def run(self) -> None:
        body = self.func.body.block
        last = body.last_op
        assert isinstance(last, ReturnOp)
        for op in list(body.ops):
            if op is not last:
                self.place(op)
        _Rebuilder(self, last).run()


class _BlockBuilder:
    """Clones ops into a new block, turning values from outside into block arguments."""

    def __init__(self, fuser: _Fuser, group: _Group):
        self.fuser = fuser
        self.group = group
        self.block = Block()
        self.values: dict[SSAValue, SSAValue] = {}
        self.inputs: list[SSAValue] = []

    def clone(self, op: Operation) -> None:
        for value in op.operands:
            self.value(value)
        self._clone(op)

    def _clone(self, op: Operation) -> None:
        copy = op.clone({v: self.values[v] for v in op.operands})
        copy.location = op.location
        for old, new in zip(op.results, copy.results, strict=True):
            new.name_hint = old.name_hint
            self.values[old] = new
        self.block.add_op(copy)

    def value(self, value: SSAValue) -> SSAValue:
        if value in self.values:
            return self.values[value]
        home = self.fuser.home.get(value)
        copied = home is not None and home.copied is value and home.index >= self.group.index
        chain = self.fuser.chains.get(value) if home is None or copied else None
        if chain is not None:
            self.value(chain.base)
            for op in chain.ops:
                if op.results[0] not in self.values:
                    self._clone(op)
        elif _is_leaf(value) and (home is None or copied):
            assert isinstance(value.owner, Operation)
            self._clone(value.owner)
        else:
            arg = self.block.insert_arg(value.type, len(self.block.args))
            arg.name_hint = value.name_hint
            self.values[value] = arg
            self.inputs.append(value)
        return self.values[value]

    def finish(self, outputs: Sequence[SSAValue]) -> tuple[Block, list[SSAValue]]:
        self.block.add_op(ascend.YieldOp([self.value(v) for v in outputs]))
        return self.block, self.inputs


class _Rebuilder:
    """Replaces the function's ops by the fused groups."""

    def __init__(self, fuser: _Fuser, last: ReturnOp):
        self.fuser = fuser
        self.last = last
        self.new: dict[SSAValue, SSAValue] = {}

    def run(self) -> None:
        returned = self._returned()
        old = [op for op in self.fuser.func.body.block.ops if op is not self.last and not _is_memory(op)]
        needed = self._needed(returned)
        results: dict[_Group, tuple[SSAValue, ...]] = {}
        for group in self.fuser.groups:
            outputs = [group.copied] if group.copied is not None else [v for op in group.ops if (v := op.results[0]) in needed]
            if outputs:
                results[group] = self._emit(group, outputs)
        values = [self._final(value, group, results) for value, group in returned]
        last = ReturnOp(*values)
        last.location = self.last.location
        block = self.fuser.func.body.block
        block.erase_op(self.last)
        for op in reversed(old):
            block.erase_op(op)
        block.add_op(last)

    def _returned(self) -> list[tuple[SSAValue, _Group | None]]:
        """Each result and, where it had to be copied, the group that copies it."""
        returned: list[tuple[SSAValue, _Group | None]] = []
        seen: set[SSAValue] = set()
        for value in self.last.arguments:
            base = self.fuser.base(value)
            plain = base in self.fuser.home and base not in seen and self._is_reshape(value)
            seen.add(base)
            if plain:
                returned.append((value, None))
            else:
                group = _Group(len(self.fuser.groups), copied=value, bases={base}, final=True)
                self.fuser.groups.append(group)
                returned.append((value, group))
        return returned

    def _is_reshape(self, value: SSAValue) -> bool:
        chain = self.fuser.chain(value)
        return chain is None or all(isinstance(op, ascend.ReshapeOp) for op in chain.ops)

    def _needed(self, returned: Sequence[tuple[SSAValue, _Group | None]]) -> set[SSAValue]:
        """Values that leave the group they are computed in."""
        needed = {self.fuser.base(value) for value, group in returned if group is None}
        for group in self.fuser.groups:
            needed.update(base for base in group.bases if self.fuser.home.get(base) is not group)
        return needed

    def _emit(self, group: _Group, outputs: Sequence[SSAValue]) -> tuple[SSAValue, ...]:
        copied = group.copied
        block, inputs = self.fuser.build(group.ops, outputs, group)
        fused = ascend.FusedOp([self.new.get(v, v) for v in inputs], [v.type for v in outputs], Region(block))
        fused.location = group.ops[0].location if group.ops else _location(outputs[0])
        self.fuser.func.body.block.insert_op_before(fused, self.last)
        for value, result in zip(outputs, fused.results, strict=True):
            result.name_hint = value.name_hint
            if copied is None or self.fuser.home.get(copied) is group:
                self.new[value] = result
        return fused.results

    def _final(self, value: SSAValue, group: _Group | None, results: dict[_Group, tuple[SSAValue, ...]]) -> SSAValue:
        if group is not None:
            return results[group][0]
        result = self.new[self.fuser.base(value)]
        if result.type == value.type:
            return result
        reshape = ascend.ReshapeOp(result, shape_of(value))
        reshape.location = _location(value)
        self.fuser.func.body.block.insert_op_before(reshape, self.last)
        return reshape.result


def _is_memory(op: Operation) -> bool:
    """A dense constant stays in the function: it becomes a GM buffer."""
    return isinstance(op, ascend.ConstantOp) and op.number is None


def _location(value: SSAValue) -> LocationAttr:
    if isinstance(value, OpResult):
        return value.op.location
    assert isinstance(value, BlockArgument)
    return value.location


# Reductions are brought to a form that a nest can take before anything is grouped.


def _prepare(func: FuncOp, target: Target) -> None:
    for op in list(func.body.block.ops):
        if isinstance(op, ascend.ReduceOp):
            for reduce in _in_runs(op):
                _split(reduce, target)
    for op in reversed(list(func.body.block.ops)):
        if op.results and not any(True for result in op.results for _ in result.uses):
            func.body.block.erase_op(op)


def _in_runs(op: ascend.ReduceOp) -> list[ascend.ReduceOp]:
    """Axes of size 1 vanish, empty axes give the neutral element, axes that are not neighbours are reduced run by run."""
    shape, axes = shape_of(op.x), list(op.axes.get_values())
    result = tensor_type(op.result)
    if num_elements(result.get_shape()) and 0 in [shape[a] for a in axes]:
        neutral = 1 if op.kind.data == "prod" else 0
        _replace(op, ascend.ConstantOp.splat(neutral, result))
        return []
    real = [a for a in axes if shape[a] != 1]
    if not real:
        _replace(op, ascend.ReshapeOp(op.x, result.get_shape()))
        return []
    runs = _runs(shape, real)
    if len(runs) == 1 and real == axes:
        return [op]
    steps: list[ascend.ReduceOp] = []
    value: SSAValue = op.x
    for run in reversed(runs):
        step = ascend.ReduceOp(op.kind.data, value, run, keepdims=True)
        step.location = op.location
        _before(op, step)
        steps.append(step)
        value = step.result
    _replace(op, ascend.ReshapeOp(value, result.get_shape()))
    return steps


def _split(op: ascend.ReduceOp, target: Target) -> None:
    """A long reduction with few results would keep one core busy and leave the others idle: reduce equal parts, then their results.

    The parts are a new dimension before the reduced ones, made by a reshape that moves up through operators of a single use.
    """
    shape, axes = shape_of(op.x), op.axes.get_values()
    first, last = min(axes), max(axes)
    length, results = num_elements(shape[first : last + 1]), num_elements(shape_of(op.result))
    if length * results < SPLIT_ELEMENTS or 2 * results > target.vector_cores:
        return
    parts = max(k for k in range(1, target.vector_cores // results + 1) if length % k == 0)
    if parts == 1:
        return
    divided = (*shape[:first], parts, length // parts, *shape[last + 1 :])
    partial = ascend.ReduceOp(op.kind.data, _reshaped(op.x, divided, op, op), [first + 1])
    total = ascend.ReduceOp(op.kind.data, partial.result, [first])
    for step in (partial, total):
        step.location = op.location
        _before(op, step)
    _replace(op, ascend.ReshapeOp(total.result, shape_of(op.result)))


def _reshaped(value: SSAValue, shape: Sequence[int], user: Operation, before: Operation) -> SSAValue:
    """The value under another shape, for `user`; operators nobody else uses are computed under it instead."""
    owner = value.owner
    number = owner.number if isinstance(owner, ascend.ConstantOp) else None
    if number is not None:
        new: Operation = ascend.ConstantOp.splat(number, tensor(shape, dtype_of(value.type)))
    elif isinstance(owner, _SAME_SHAPE) and all(use.operation is user for use in value.uses):
        moved = {v: _reshaped(v, shape, owner, before) for v in dict.fromkeys(owner.operands)}
        result = tensor(shape, dtype_of(value.type))
        new = type(owner).create(
            operands=[moved[v] for v in owner.operands], result_types=[result], properties=owner.properties.copy()
        )
    else:
        new = ascend.ReshapeOp(value, shape)
    new.location = owner.location if isinstance(owner, Operation) else before.location
    _before(before, new)
    return new.results[0]


_SAME_SHAPE = (ascend.ElementwiseOp, ascend.SelectOp, ascend.CompareOp, ascend.CastOp)
"""Operators whose operands and result have one shape, whatever it is."""


def _runs(shape: Sequence[int], axes: Sequence[int]) -> list[list[int]]:
    """Axes cut into runs of neighbours."""
    runs: list[list[int]] = []
    for axis in axes:
        if runs and is_run(shape, [*runs[-1], axis]):
            runs[-1].append(axis)
        else:
            runs.append([axis])
    return runs


def _before(op: Operation, new: Operation) -> None:
    block = op.parent_block()
    assert block is not None
    block.insert_op_before(new, op)


def _replace(op: Operation, new: Operation) -> None:
    new.location = op.location
    _before(op, new)
    new.results[0].name_hint = op.results[0].name_hint
    op.results[0].replace_all_uses_with(new.results[0])
    block = op.parent_block()
    assert block is not None
    block.erase_op(op)


@dataclass(frozen=True)
class FuseOperatorsPass(ModulePass):
    """Put every operator into an `ascend.fused` group."""

    name = "fuse-operators"

    max_ops: int | None = None
    """Operators a kernel may hold; 1 keeps each in a kernel of its own."""

    target: str = ASCEND910B.name

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = parse_target(self.target)
        for func in op.ops:
            if isinstance(func, FuncOp) and _is_operator(func):
                _prepare(func, target)
                _Fuser(func, self.max_ops or MAX_OPS, target).run()


def _is_operator(func: FuncOp) -> bool:
    """A function of `ascend` ops on tensors that has not been fused yet."""
    if func.is_declaration or not isinstance(func.body.block.last_op, ReturnOp):
        return False
    ops = list(func.body.block.ops)
    tensors = all(isinstance(t, TensorType) for t in (*func.function_type.inputs, *func.function_type.outputs))
    return tensors and all(o.name.startswith("ascend.") for o in ops[:-1]) and not any(isinstance(o, ascend.FusedOp) for o in ops)

