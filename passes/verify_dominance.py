"""verify-dominance: a value is defined before it is used, and where it is used it can be seen.

    %y = arith.addi %x, %x : index        // refused: %x is defined below
    %x = arith.constant 1 : index

xDSL's verifier checks types and not order, so a pass that moves or inserts ops in the wrong place goes unnoticed until the C does
not compile — or does. Run this after such passes; the tests run it after all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.irdl.dominance import DominanceInfo
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from ascir.diagnostics import location_text


@dataclass
class _Order:
    """Positions of ops in their blocks, and dominance between the blocks of regions that have several."""

    position: dict[Operation, int] = field(default_factory=dict[Operation, int])
    regions: dict[Region, DominanceInfo] = field(default_factory=dict[Region, DominanceInfo])

    def number(self, module: ModuleOp) -> None:
        for block in module.walk_blocks():
            self.position.update((op, n) for n, op in enumerate(block.ops))

    def dominates(self, value: SSAValue, user: Operation) -> bool:
        """Whether `value` is defined, on every path, before `user` runs and in a block around it."""
        owner = value.owner
        home = owner if isinstance(owner, Block) else owner.parent
        around = _ancestor_in(home.parent, user) if home is not None else None
        if home is None or around is None or around.parent is None:
            return False
        if around.parent is not home:
            return self._block_dominates(home, around.parent)
        return isinstance(owner, Block) or self.position[owner] < self.position[around]

    def _block_dominates(self, a: Block, b: Block) -> bool:
        region = a.parent
        assert region is not None
        if region not in self.regions:
            self.regions[region] = DominanceInfo(region)
        return self.regions[region].strictly_dominates(a, b)


def _ancestor_in(region: Region | None, op: Operation) -> Operation | None:
    """The op around `op`, or itself, that is directly in a block of `region`."""
    around: Operation | None = op
    while around is not None and around.parent_region() is not region:
        around = around.parent_op()
    return around


def _at(op: Operation) -> str:
    place = location_text(op.location)
    return f" ({place})" if place else ""


def _complaint(value: SSAValue, user: Operation) -> str:
    name = f"%{value.name_hint}" if value.name_hint else "a value without a name"
    owner = value.owner
    if isinstance(owner, Operation):
        what = f"defined by {owner.name}{_at(owner)}"
    else:
        around = owner.parent_op()
        what = f"an argument of {around.name if around else 'a detached block'}"
    return (
        f"verify-dominance: {user.name}{_at(user)} uses {name}, {what}, which does not come before it; "
        "define the value earlier in the same block or in a block around it"
    )


@dataclass(frozen=True)
class VerifyDominancePass(ModulePass):
    """Refuse a use that the definition does not dominate."""

    name = "verify-dominance"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        order = _Order()
        order.number(op)
        for user in op.walk():
            for value in user.operands:
                if not order.dominates(value, user):
                    text = _complaint(value, user)
                    user.emit_error(text, PassFailedException(text))
