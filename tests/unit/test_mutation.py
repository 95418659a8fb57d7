"""Synchronisation by mutation, on the emulator: take away any flag or barrier that insert-sync put in, and every run says so.

Fourteen kernels, each ordering (a barrier; a set and its wait; a flag that iterations hand on) deleted in turn, and each single op. The
originals run without a fault. Compile-time checking of the same mutations is in test_insert_sync.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Operation

from ascir.backend_c.emit import emit_module
from ascir.backend_c.report import KernelFault
from ascir.backend_c.run import KernelRunner
from ascir.dialects.ascend import KernelOp
from ascir.dialects.types import buffer_type, dtype_of
from ascir.machine.target import ASCEND910B
from ascir.passes.insert_sync import synchronise
from ascir.passes.plan_memory import plan

from .clockwork import KERNELS, SYNC_OPS, load, orderings, without

RUNS = 20


def prepared(path: Path) -> KernelOp:
    kernel = load(path)
    plan(kernel, ASCEND910B)
    synchronise(kernel)
    return kernel


def runner(kernel: KernelOp) -> KernelRunner:
    name = kernel.sym_name.data
    return KernelRunner(name, emit_module(ModuleOp([kernel.clone()])), ASCEND910B)


def arguments(kernel: KernelOp, trips: int) -> list[np.ndarray | int]:
    """Arrays of ones for GM buffers (a dynamic one of 4096 elements), and a number of trips for loops that take theirs from outside."""
    values: list[np.ndarray | int] = []
    for arg in kernel.args:
        if isinstance(arg.type, MemRefType):
            type_ = buffer_type(arg)
            values.append(np.ones([4096 if d < 0 else d for d in type_.get_shape()], dtype_of(type_).to_numpy()))
        else:
            values.append(trips)
    return values


def faults(kernel: KernelOp, compiled: KernelRunner, trips: int) -> list[list[str]]:
    """What each of `RUNS` runs of the kernel reports."""
    found: list[list[str]] = []
    for _ in range(RUNS):
        try:
            compiled.launch(arguments(kernel, trips), kernel.block_dim.value.data)
            found.append([])
        except KernelFault as fault:
            found.append([f.kind for f in fault.faults])
    return found


def missed(kernel: KernelOp, mutations: Sequence[Sequence[Operation]]) -> list[str]:
    """Mutations that some run does not report, whether its loops run or not (a flag may be needed only past a loop of no trips)."""
    return [str([str(op) for op in ops]) for ops in mutations if not is_reported(without(kernel, ops))]


def is_reported(mutant: KernelOp) -> bool:
    compiled = runner(mutant)
    return any(all(faults(mutant, compiled, trips)) for trips in (4, 0))


@pytest.mark.parametrize("path", KERNELS, ids=lambda p: p.stem)
def test_the_original_has_no_fault(path: Path) -> None:
    kernel = prepared(path)
    compiled = runner(kernel)
    for trips in (0, 1, 4):
        assert faults(kernel, compiled, trips) == [[]] * RUNS


@pytest.mark.parametrize("path", KERNELS, ids=lambda p: p.stem)
def test_each_ordering_is_missed_on_every_run(path: Path) -> None:
    kernel = prepared(path)
    found = orderings(kernel)
    assert found
    assert missed(kernel, found) == []


@pytest.mark.parametrize("path", KERNELS, ids=lambda p: p.stem)
def test_each_single_flag_and_barrier_is_missed_on_every_run(path: Path) -> None:
    kernel = prepared(path)
    ops = [[op] for op in kernel.walk() if isinstance(op, SYNC_OPS)]
    assert missed(kernel, ops) == []
