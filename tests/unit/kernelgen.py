"""Random kernels: loops and branches, nested, around copies, instructions and scalar accesses on a few buffers.

Windows are fixed, follow a loop (`i · 64`), alternate (`i mod 2`), end early (`min`) or are rows that lie apart, so that the analysis
of indices is tried as well as that of flags. Every kernel verifies and has one scalar argument, which serves as a trip count.
"""

from __future__ import annotations

from random import Random

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, ModuleOp, f32
from xdsl.ir import Block, Operation, Region, SSAValue

from ascir.dialects import ascend, memory
from ascir.dialects.memory import GM, UB
from ascir.dialects.types import buffer
from ascir.dialects.vector import vector_op

_WINDOW = 64
"""Elements that an instruction works on; a buffer has two windows, a GM argument eight."""

_INDEX = IndexType()


def random_kernel(seed: int, size: int = 10, buffers: int = 4) -> ascend.KernelOp:
    """A verified kernel of about `size` instructions on at most `buffers` buffers in UB."""
    return _Generator(Random(seed), buffers).kernel(size)


class _Generator:
    def __init__(self, random: Random, buffers: int):
        self.random = random
        self.kernel_op = ascend.KernelOp("k", [buffer((8 * _WINDOW,), "f32", GM)] * 2 + [_INDEX], 2, arg_names=["x", "y", "n"])
        self.block = self.kernel_op.body.block
        self.ends: list[Operation] = []
        self.inductions: list[SSAValue] = []
        labels = [f"b{n}" for n in range(random.randint(1, buffers))]
        self.buffers = [self.add(memory.AllocOp(label, buffer((2 * _WINDOW,), "f32", UB))) for label in labels]
        self.value = self.add(arith.ConstantOp(FloatAttr(1.0, f32)))
        self.core, self.cores = self.add(ascend.BlockIdxOp()), self.add(ascend.BlockNumOp())

    def kernel(self, size: int) -> ascend.KernelOp:
        self.statements(size, 0)
        ModuleOp([self.kernel_op]).verify()
        return self.kernel_op

    def add(self, op: Operation) -> SSAValue:
        last = self.block.last_op
        if isinstance(last, ascend.ReturnOp):
            self.block.insert_op_before(op, last)
        else:
            self.block.add_op(op)
        return op.results[0] if op.results else self.value

    def number(self, value: int) -> SSAValue:
        return self.add(arith.ConstantOp(IntegerAttr(value, _INDEX)))

    def statements(self, size: int, depth: int) -> None:
        while size > 0:
            kind = self.random.random()
            if depth < 3 and size > 1 and kind < 0.3:
                inner = self.random.randint(1, size)
                self.loop(inner, depth) if kind < 0.2 else self.branch(inner, depth)
                size -= inner
            else:
                self.instruction()
                size -= 1

    def inside(self, size: int, depth: int) -> Region:
        """Statements in a region of their own."""
        outside, self.block = self.block, Block()
        self.statements(size, depth + 1)
        region, self.block = Region(self.block), outside
        region.block.add_op(scf.YieldOp())
        return region

    def loop(self, size: int, depth: int) -> None:
        low, high = self.number(self.random.randrange(2)), self.number(self.random.randrange(4))
        step = self.number(self.random.randint(1, 2))
        if self.random.random() < 0.3:
            high = self.kernel_op.args[2]
        if self.random.random() < 0.2:
            low, step = self.core, self.cores
        outside, self.block = self.block, Block(arg_types=[_INDEX])
        body = self.block
        self.inductions.append(body.args[0])
        self.statements(size, depth + 1)
        self.add(scf.YieldOp())
        self.inductions.pop()
        self.block = outside
        self.add(scf.ForOp(low, high, step, [], Region(body)))

    def branch(self, size: int, depth: int) -> None:
        number = self.random.choice([*self.inductions, self.kernel_op.args[2]])
        odd = self.add(arith.RemSIOp(number, self.number(2)))
        condition = self.add(arith.CmpiOp(odd, self.number(0), "eq"))
        first = self.random.randint(1, size)
        region = self.inside(first, depth)
        other = self.inside(size - first, depth) if first < size else None
        self.add(scf.IfOp(condition, [], region, other))

    def offset(self, windows: int) -> SSAValue | int:
        """The start of one of `windows` windows."""
        if not self.inductions or self.random.random() < 0.4:
            return _WINDOW * self.random.randrange(windows)
        number = self.random.choice(self.inductions)
        if windows == 2:
            number = self.add(arith.RemSIOp(number, self.number(2)))
        scaled = self.add(arith.MuliOp(number, self.number(_WINDOW)))
        return scaled if self.random.random() < 0.7 or windows == 2 else self.add(arith.AddiOp(scaled, self.number(_WINDOW)))

    def view(self, source: SSAValue, windows: int, count: SSAValue | int) -> SSAValue:
        return self.add(memory.ViewOp(source, self.offset(windows), [count], [1]))

    def count(self) -> SSAValue | int:
        if not self.inductions or self.random.random() < 0.6:
            return self.random.choice([_WINDOW, _WINDOW // 2])
        left = self.add(arith.SubiOp(self.number(_WINDOW), self.inductions[-1]))
        return self.add(arith.MinSIOp(left, self.number(_WINDOW)))

    def local(self, count: SSAValue | int) -> SSAValue:
        return self.view(self.random.choice(self.buffers), 2, count)

    def instruction(self) -> None:
        kind, count = self.random.randrange(10), self.count()
        argument = self.random.choice(self.kernel_op.args[:2])
        match kind:
            case 0 | 1:
                self.add(memory.CopyOp(self.view(argument, 6, count), self.local(count)))
            case 2 | 3:
                self.add(memory.CopyOp(self.local(count), self.view(argument, 6, count)))
            case 4:
                self.add(vector_op("exp", self.local(count), self.local(count)))
            case 5:
                self.add(vector_op("add", self.local(count), self.local(count), self.local(count)))
            case 6:
                self.add(memory.ScalarCopyOp(self.view(argument, 6, count), self.local(count)))
            case 7 | 8:
                self.matrix_instruction()
            case _:
                self.scalar_access()

    def matrix(self, source: SSAValue, rows: SSAValue | int, strides: tuple[int, int]) -> SSAValue:
        """Rows of 16 elements in a buffer or argument."""
        return self.add(memory.ViewOp(source, self.offset(2), [rows, 16], strides))

    def matrix_instruction(self) -> None:
        """A copy of rows that lie apart in GM, or an instruction whose second source repeats a row or a block."""
        rows: SSAValue | int = self.random.randint(1, 4)
        if self.inductions and self.random.random() < 0.4:
            rows = self.add(arith.MinSIOp(self.inductions[-1], self.number(4)))
        local = self.matrix(self.random.choice(self.buffers), rows, (16, 1))
        outside = self.matrix(self.kernel_op.args[0], rows, (self.random.choice([16, 64, 96]), 1))
        match self.random.randrange(3):
            case 0:
                self.add(memory.CopyOp(outside, local))
            case 1:
                self.add(memory.CopyOp(local, outside))
            case _:
                again = self.matrix(self.random.choice(self.buffers), rows, self.random.choice([(0, 1), (8, 0)]))
                self.add(vector_op("add", local, again, self.matrix(self.random.choice(self.buffers), rows, (16, 1))))

    def scalar_access(self) -> None:
        place = self.random.choice([*self.inductions, self.number(self.random.randrange(_WINDOW))])
        if self.random.random() < 0.5:
            self.add(memref.LoadOp.get(self.random.choice(self.buffers), [place]))
        else:
            self.add(memref.StoreOp.get(self.value, self.random.choice(self.buffers), [place]))
