"""What upstream's `canonicalize` pass does to the operators of `ascend`: rewrites that never change a bit of an answer.

A rule is a function from an operator to what may stand for it, and says in its docstring why it is safe for NaN, infinities and
the sign of zero. The rules lie in one file a subject; here is the table of which operator they apply to, and the one pattern
that walks it, so that an operator costs a dictionary look-up and not a try of every pattern.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from ascir.machine.operators import BINARY, UNARY
from ascir.passes.canonicalization import arithmetic, casts, choice, fold, movement, powers

Rewrite = SSAValue | Sequence[Operation] | None
"""A value that stands for the result, new operators of which the last does, or None where the rule has nothing to say."""

Rule = Callable[[Any], Rewrite]

_UNARY_RULES: tuple[Rule, ...] = (fold.constants, arithmetic.twice)
_BINARY_RULES: tuple[Rule, ...] = (fold.constants, arithmetic.neutral, arithmetic.absorbing, arithmetic.with_itself)

RULES: dict[str, tuple[Rule, ...]] = {
    **{f"ascend.{row.name}": _UNARY_RULES for row in UNARY},
    **{f"ascend.{row.name}": _BINARY_RULES for row in BINARY},
    "ascend.not": (*_UNARY_RULES, choice.negated_compare),
    "ascend.div": (*_BINARY_RULES, arithmetic.divide_by_power_of_two),
    "ascend.pow": (*_BINARY_RULES, powers.whole_exponent),
    "ascend.compare": (fold.constants, choice.compare_with_itself),
    "ascend.select": (choice.select_known, choice.select_by_negation),
    "ascend.cast": (casts.same_type, casts.of_constant, casts.implicit_pair, casts.after_widening),
    "ascend.broadcast": (movement.same_shape, movement.of_constant, movement.broadcast_twice),
    "ascend.reshape": (movement.same_shape, movement.of_constant, movement.reshape_twice),
    "ascend.transpose": (movement.same_order, movement.of_constant, movement.transpose_twice),
}


class ApplyRules(RewritePattern):
    """Try the rules of an operator in order; what they make takes its location."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        for rule in RULES.get(op.name, ()):
            made = rule(op)
            if made is None:
                continue
            if isinstance(made, SSAValue):
                return rewriter.replace(op, (), (made,))
            for new in made:
                new.location = op.location
            return rewriter.replace(op, made)


PATTERNS: tuple[RewritePattern, ...] = (ApplyRules(),)
