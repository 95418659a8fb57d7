"""Loops and branches as context managers: the block inside `with` becomes the region of an `scf` op when it ends."""

from __future__ import annotations

from types import TracebackType

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, Region, SSAValue

from .body import INDEX, Body, Scope
from .values import Index, IndexLike, index_value


class _Nested:
    """An open block; leaving it by an exception leaves the kernel without it."""

    def __init__(self, body: Body):
        self.body = body
        self.place = body.here()
        body.unopened.append(self.place)
        self.block = Block()

    def _open(self) -> None:
        self.body.unopened.remove(self.place)
        self.body.scopes.append(Scope(self.block))

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is None:
            self._append_terminator()
        self.body.scopes.pop()
        if error is None:
            self._close()

    def _append_terminator(self) -> None:
        self.body.append(scf.YieldOp(), place=self.place)

    def _close(self) -> None:
        raise NotImplementedError


class Loop(_Nested):
    """`with k.for_(…) as i:`, an `scf.for`."""

    def __init__(self, body: Body, start: IndexLike, stop: IndexLike, step: IndexLike):
        super().__init__(body)
        self.bounds = [index_value(body, bound) for bound in (start, stop, step)]

    def __enter__(self) -> Index:
        index = self.block.insert_arg(INDEX, 0)
        index.location = self.place.location
        index.name_hint = self.place.variable or "i"
        self._open()
        return Index(self.body, {index: 1})

    def _close(self) -> None:
        start, stop, step = self.bounds
        self.body.append(scf.ForOp(start, stop, step, [], self.block), place=self.place)


class Branch(_Nested):
    """`with k.if_(condition):`, an `scf.if`."""

    def __init__(self, body: Body, condition: SSAValue):
        super().__init__(body)
        self.condition = condition

    def __enter__(self) -> None:
        self._open()

    def _close(self) -> None:
        self.body.append(scf.IfOp(self.condition, [], Region(self.block)), place=self.place)


class Else(_Nested):
    """`with k.else_():` after the end of an `if_`: its other region.

    The op leaves its block meanwhile, for constants to go in front of it.
    """

    def __enter__(self) -> None:
        self.branch = self._branch()
        self.branch.detach()
        self._open()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        super().__exit__(kind, error, trace)
        self.body.inner.block.add_op(self.branch)

    def _branch(self) -> Operation:
        last = self.body.inner.block.last_op
        if not isinstance(last, scf.IfOp) or last.false_region.blocks:
            self.body.fail("else_ has no if_ before it", "it follows at once: `with k.if_(…): …` and then `with k.else_(): …`")
        return last

    def _close(self) -> None:
        self.branch.regions[1].add_block(self.block)
