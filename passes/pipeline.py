"""The whole story of a compilation, a line a pass: from NumPy's operators to a kernel with every flag in place.

    canonicalize       constants folded, identities gone
    infer-shapes       `?` filled in where operands say
    select-precision   f16 and bf16 computed in f32, or every operation rounded: `precision=`
    legalize-dtypes    only operations the tile program knows, wider types where the hardware lacks one
    canonicalize       what the two left to tidy
    fuse-operators     groups whose intermediates stay on chip
    tile-to-kernel     a kernel a group: tiles, loops, copies, instructions
    plan-memory        offsets in UB
    insert-sync        flags and barriers for every hazard
    verify-sync        no hazard is left
    verify-dominance   every value is defined before it is used
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.passes import ModulePass


@dataclass(frozen=True)
class Options:
    """What a compilation may choose. `block_dim` None: as many cores as the work fills."""

    precision: str = "mixed"
    target: str = "ascend910b"
    block_dim: int | None = None
    opt_level: int = 2


def operator_pipeline(options: Options) -> Sequence[ModulePass]:
    """The passes from a traced function of `ascend` ops to kernels ready to print as C.

    `opt_level` 0 keeps every operator in a kernel of its own; 1 and 2 fuse.
    """
    from xdsl.transforms.canonicalize import CanonicalizePass

    from ascir.passes.fuse_operators import FuseOperatorsPass
    from ascir.passes.infer_shapes import InferShapesPass
    from ascir.passes.legalize_dtypes import LegalizeDtypesPass
    from ascir.passes.select_precision import SelectPrecisionPass
    from ascir.passes.tile_to_kernel import TileToKernelPass

    return (
        CanonicalizePass(),
        InferShapesPass(),
        SelectPrecisionPass(precision=options.precision),
        LegalizeDtypesPass(),
        CanonicalizePass(),
        FuseOperatorsPass(max_ops=1 if options.opt_level == 0 else None, target=options.target),
        TileToKernelPass(target=options.target, block_dim=options.block_dim),
        *kernel_pipeline(options),
    )


SYNC = ("auto", "manual", "unchecked")
"""Who orders the pipes of a kernel: `insert-sync`; the author, checked by `verify-sync`; the author, for the emulator to judge."""


def kernel_pipeline(options: Options, *, sync: str = "auto") -> Sequence[ModulePass]:
    """The passes that any kernel needs, written by hand or not; `sync` is one of SYNC."""
    from ascir.passes.insert_sync import InsertSyncPass
    from ascir.passes.plan_memory import PlanMemoryPass
    from ascir.passes.verify_dominance import VerifyDominancePass
    from ascir.passes.verify_sync import VerifySyncPass

    plan = PlanMemoryPass(target=options.target)
    order = {"auto": (InsertSyncPass(), VerifySyncPass()), "manual": (VerifySyncPass(),), "unchecked": ()}
    return (plan, *order[sync], VerifyDominancePass())
