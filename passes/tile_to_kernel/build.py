"""Writes a nest as IR: buffers, the loop over tiles that the cores share, views, copies and instructions.

Tiles are numbered; core b takes tiles b, b + block_num, … Index arithmetic folds Python ints on the way, so that what is known when
the kernel is compiled shows as numbers in the IR.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IndexType, IntegerAttr, IntegerType, LocationAttr, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ascir.dialects import ascend, memory
from ascir.dialects.types import Buffer, Tensor, buffer
from ascir.dialects.vector import scalar_type, vector_op
from ascir.machine.dtypes import DType, round_to, wrap_integer
from ascir.machine.layout import ceil_div, num_elements
from ascir.machine.target import Target
from ascir.passes.tile_to_kernel.nest import Nest
from ascir.passes.tile_to_kernel.program import Fold, Instr, Iota, Load, Number, Register, Step, Store
from ascir.passes.tile_to_kernel.space import Window
from ascir.passes.tile_to_kernel.tiling import Tile, assign_buffers, choose_tile, elements_of, mask_pitch

Index = SSAValue | int
_INDEX = IndexType()


class Writer:
    """Appends ops to a block, at a source location, folding index arithmetic."""

    def __init__(self, block: Block, location: LocationAttr):
        self.entry = block
        self.block = block
        self.location = location
        self._constants: dict[tuple[str, Attribute], SSAValue] = {}
        self._anchor: Operation | None = None

    def add(self, op: Operation) -> Operation:
        op.location = self.location
        self.block.add_op(op)
        return op

    def value(self, op: Operation, hint: str | None = None) -> SSAValue:
        self.add(op)
        op.results[0].name_hint = hint
        return op.results[0]

    def constant(self, attribute: FloatAttr | IntegerAttr, type_: Attribute) -> SSAValue:
        """A constant at the top of the kernel, one for each value."""
        key = (str(attribute), type_)
        if key not in self._constants:
            op = arith.ConstantOp(attribute, type_)
            op.location = self.location
            if self._anchor is None:
                first = self.entry.first_op
                if first is None:
                    self.entry.add_op(op)
                else:
                    self.entry.insert_op_before(op, first)
            else:
                self.entry.insert_op_after(op, self._anchor)
            self._anchor = op
            self._constants[key] = op.result
        return self._constants[key]

    def index(self, value: Index) -> SSAValue:
        return value if isinstance(value, SSAValue) else self.constant(IntegerAttr(value, _INDEX), _INDEX)

    def _binary(self, op: Callable[[SSAValue, SSAValue], Operation], a: Index, b: Index) -> SSAValue:
        return self.value(op(self.index(a), self.index(b)))

    def sum(self, a: Index, b: Index) -> Index:
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        if a == 0:
            return b
        return a if b == 0 else self._binary(arith.AddiOp, a, b)

    def product(self, a: Index, b: Index) -> Index:
        if isinstance(a, int) and isinstance(b, int):
            return a * b
        if 0 in (a, b):
            return 0
        if a == 1:
            return b
        return a if b == 1 else self._binary(arith.MuliOp, a, b)

    def rest(self, tile: int, total: int, start: Index) -> Index:
        """min(tile, total - start): static where tiles divide the total or there is but one."""
        if total % tile == 0 or isinstance(start, int):
            return min(tile, total - start) if isinstance(start, int) else tile
        left = self._binary(arith.SubiOp, total, start)
        return self._binary(arith.MinSIOp, tile, left)

    def split(self, number: Index, counts: Sequence[int]) -> list[Index]:
        """A running number as one index per count, the last fastest."""
        indices: list[Index] = []
        for k, count in reversed(list(enumerate(counts))):
            whole = num_elements(counts[:k]) == 1
            if count == 1:
                indices.append(0)
            elif whole:
                indices.append(number)
            else:
                indices.append(self._binary(arith.RemSIOp, number, count))
                number = self._binary(arith.DivSIOp, number, count)
        return indices[::-1]

    def loop(self, low: Index, high: Index, step: Index) -> tuple[SSAValue, Block]:
        """Open an scf.for; ops go into its body until `close` is called with the block returned."""
        body = Block(arg_types=[_INDEX])
        self.add(scf.ForOp(self.index(low), self.index(high), self.index(step), [], Region(body)))
        outside, self.block = self.block, body
        return body.args[0], outside

    def close(self, outside: Block) -> None:
        self.add(scf.YieldOp())
        self.block = outside


class NestWriter:
    """Writes one nest into a kernel."""

    def __init__(self, writer: Writer, nest: Nest, args: Sequence[SSAValue], inputs: int, tile: Tile, prefix: str):
        self.w = writer
        self.nest = nest
        self.space = nest.space
        self.args = args
        self.inputs = inputs
        self.tile = tile
        self.home = assign_buffers(nest.program)
        self.buffers = self._allocate(prefix)
        self.views: dict[tuple[object, ...], SSAValue] = {}
        self.outer: Sequence[Index] = [0] * len(self.space.outer)
        self.r0: Index = 0
        self.c0: Index = 0
        self.rows: Index = tile.rows
        self.cols: Index = tile.cols

    def _allocate(self, prefix: str) -> dict[Register, SSAValue]:
        buffers: dict[Register, SSAValue] = {}
        for register in dict.fromkeys(self.home.values()):
            type_ = buffer((elements_of(register, self.tile),), register.dtype, memory.UB)
            alloc = memory.AllocOp(prefix + register.name, type_)
            buffers[register] = self.w.value(alloc, alloc.memref.name_hint)
        return buffers

    # loops

    def counts(self) -> tuple[list[int], int]:
        """Tiles along each parallel dimension, and chunks of the sequential inner loop."""
        row_tiles = ceil_div(self.space.rows, self.tile.rows)
        col_tiles = ceil_div(self.space.cols, self.tile.cols)
        match self.space.mode:
            case "chunks":
                return [*self.space.outer, row_tiles, 1], col_tiles
            case "columns":
                return [*self.space.outer, 1, col_tiles], row_tiles
            case _:
                return [*self.space.outer, row_tiles, col_tiles], 1

    def write(self, block_idx: SSAValue, block_num: SSAValue) -> None:
        counts, chunks = self.counts()
        once, body = self._hoist(counts, chunks)
        self._steps([*self.nest.program.once, *once])
        number, outside = self.w.loop(block_idx, num_elements(counts), block_num)
        number.name_hint = "tile"
        *self.outer, row, col = self.w.split(number, counts)
        self._place(row, col)
        self._steps(self.nest.program.first)
        if chunks > 1:
            self._chunks(body)
        else:
            self._steps(body)
        self._steps(self.nest.program.last)
        self.w.close(outside)

    def _place(self, row: Index, col: Index) -> None:
        """Start and extent of the tile with these tile indices."""
        self.views.clear()
        self.r0 = self.w.product(row, self.tile.rows)
        self.c0 = self.w.product(col, self.tile.cols)
        self.rows = self.w.rest(self.tile.rows, self.space.rows, self.r0)
        self.cols = self.w.rest(self.tile.cols, self.space.cols, self.c0)

    def _chunks(self, body: Sequence[Step]) -> None:
        columns = self.space.mode == "columns"
        total, step = (self.space.rows, self.tile.rows) if columns else (self.space.cols, self.tile.cols)
        saved = (self.r0, self.c0, self.rows, self.cols)
        start, outside = self.w.loop(0, total, step)
        start.name_hint = "chunk"
        self.views.clear()
        extent = self.w.rest(step, total, start)
        if columns:
            self.r0, self.rows = start, extent
        else:
            self.c0, self.cols = start, extent
        self._steps(body)
        self.w.close(outside)
        self.views.clear()
        self.r0, self.c0, self.rows, self.cols = saved

    def _hoist(self, counts: Sequence[int], chunks: int) -> tuple[list[Step], list[Step]]:
        """Loads that every tile repeats are done once, before the loop."""
        whole_rows = counts[-2] == 1 and not (chunks > 1 and self.space.mode == "columns")
        whole_cols = counts[-1] == 1 and not (chunks > 1 and self.space.mode == "chunks")
        once: list[Step] = []
        body: list[Step] = []
        hoisted: set[Register] = set()
        for step in self.nest.program.body:
            invariant = False
            if isinstance(step, Load) and not any(step.window.outer):
                extent = step.register.extent
                invariant = (extent in ("cols", "one") or whole_rows) and (extent in ("rows", "one") or whole_cols)
            elif isinstance(step, Instr) and step.name == "block_broadcast" and step.destination.role == "load":
                invariant = step.sources[0] in hoisted
            if invariant:
                hoisted.update(r for r in (getattr(step, "register", None), getattr(step, "destination", None)) if r)
            (once if invariant else body).append(step)
        return once, body

    # steps

    def _steps(self, steps: Sequence[Step]) -> None:
        for step in steps:
            self.w.location = step.location
            match step:
                case Load():
                    self._copy(self._global(step.source, step.window, step.register), self._local(step.register, step.window), step)
                case Store():
                    target = self._global(self.inputs + step.target, step.window, step.register)
                    self._copy(self._local(step.register, step.window), target, step)
                case Iota():
                    self._iota(step)
                case Fold():
                    self._fold(step)
                case Instr():
                    self._instruction(step)
                case _:
                    raise AssertionError(step)

    def _copy(self, source: SSAValue, target: SSAValue, step: Load | Store) -> None:
        window, extent = step.window, step.register.extent
        row, col = window.row, window.col
        inner = col if extent in ("tile", "cols") else row if extent == "rows" else 1
        count = self.cols if extent in ("tile", "cols") else self.rows if extent == "rows" else 1
        contiguous = inner == 1 or count == 1
        rows_ascend = extent != "tile" or self.tile.rows == 1 or row > 0
        op = memory.CopyOp if contiguous and rows_ascend else memory.ScalarCopyOp
        self.w.add(op(source, target))

    def _global(self, number: int, window: Window, register: Register) -> SSAValue:
        """The window on a GM argument for the current tile."""
        offset: Index = window.offset
        for index, stride in zip(self.outer, window.outer, strict=True):
            offset = self.w.sum(offset, self.w.product(index, stride))
        offset = self.w.sum(offset, self.w.product(self.r0, window.row))
        offset = self.w.sum(offset, self.w.product(self.c0, window.col))
        sizes, strides = self._extents(register, (window.row, window.col))
        if sizes[-1] == 1:
            strides[-1] = 1
        return self._view(self.args[number], offset, sizes, strides)

    def _local(self, register: Register, window: Window) -> SSAValue:
        """The buffer side of a copy."""
        sizes, strides = self._extents(register, (self.tile.pitch, 1))
        return self._view(self.buffers[self.home[register]], 0, sizes, strides)

    def _extents(self, register: Register, strides: tuple[int, int]) -> tuple[list[Index], list[int]]:
        """Sizes and strides of a copy: rows of a tile, or one row."""
        match register.extent:
            case "tile" if self.tile.rows > 1:
                return [self.rows, self.cols], list(strides)
            case "tile" | "cols":
                return [self.cols], [strides[1]]
            case "rows":
                return [self.rows], [1 if strides == (self.tile.pitch, 1) else strides[0]]
            case _:
                return [1], [1]

    def _view(self, source: SSAValue, offset: Index, sizes: Sequence[Index], strides: Sequence[Index]) -> SSAValue:
        key = (source, offset, tuple(sizes), tuple(strides))
        if key not in self.views:
            self.views[key] = self.w.value(memory.ViewOp(source, offset, sizes, strides))
        return self.views[key]

    def _buffer(self, register: Register) -> SSAValue:
        return self.buffers[self.home[register]]

    # instructions

    def _length(self, register: Register) -> Index:
        """Elements of a register that is read or written as one vector."""
        match register.extent:
            case "tile":
                return self.w.product(self.rows, self.cols)
            case "rows":
                return self.rows
            case "cols":
                return self.cols
            case "block":
                return register.dtype.c0
            case _:
                return 1

    def _vector(self, register: Register, count: Index) -> SSAValue:
        """A register as a 1-d operand of `count` elements."""
        size = self._mask_bytes(count) if register.mask else count
        return self._view(self._buffer(register), 0, [size], [1])

    def _mask_bytes(self, count: Index) -> Index:
        if isinstance(count, int):
            return ceil_div(count, 8)
        up = self.w.sum(count, 7)
        key = ("mask", count)
        if key not in self.views:
            self.views[key] = self.w.value(arith.DivSIOp(self.w.index(up), self.w.index(8)))
        return self.views[key]

    def _matrix(self, register: Register, extent: str, rows: Index, cols: Index) -> SSAValue:
        """A register as a 2-d operand of rows × cols; narrower ones repeat through stride 0."""
        sizes: list[Index] = [rows, self._mask_bytes(cols) if register.mask else cols]
        pitch: Index = self.tile.pitch if extent == "tile" and not self.tile.flat else cols
        if register.mask:
            pitch = mask_pitch(self.tile) if extent == "tile" and not self.tile.flat else sizes[1]
        match register.extent:
            case "blocks":
                strides: list[Index] = [register.dtype.c0, 0]
            case "block":
                strides = [0, 0]
            case "cols" if extent == "tile":
                strides = [0, 1]
            case _:
                strides = [pitch, 1]
        return self._view(self._buffer(register), 0, sizes, strides)

    def _instruction(self, step: Instr) -> None:
        destination = step.destination
        if step.name == "block_broadcast":
            return self._block_broadcast(step)
        scalars = [self._scalar(step.scalar, self._scalar_dtype(step))] if step.scalar is not None else []
        extent = destination.extent
        uniform = all(r.extent == extent for r in step.sources)
        if uniform and (extent != "tile" or self.tile.flat):
            count = self._length(destination)
            sources = [self._vector(r, count) for r in step.sources]
            target = self._vector(destination, count)
        else:
            whole = extent == "tile" and not self.tile.flat
            rows, cols = (self.rows, self.cols) if whole else (1, self._length(destination))
            sources = [self._matrix(r, extent, rows, cols) for r in step.sources]
            target = self._matrix(destination, extent, rows, cols)
        properties = {} if step.round is None else {"round": step.round}
        self.w.add(vector_op(step.name, *sources, *scalars, target, **properties))

    def _scalar_dtype(self, step: Instr) -> DType:
        return step.sources[-1].dtype if step.sources else step.destination.dtype

    def _scalar(self, number: Number, element: DType) -> SSAValue:
        type_ = scalar_type(element)
        if element.is_float:
            rounded = round_to(float(number), element)
            return self.w.constant(FloatAttr(rounded, cast(AnyFloat, type_)), type_)
        bits = 8 * element.bytes if element.kind != "bool" else 1
        return self.w.constant(IntegerAttr(wrap_integer(int(number), bits), cast(IntegerType, type_)), type_)

    def _block_broadcast(self, step: Instr) -> None:
        source, destination = step.sources[0], step.destination
        rows: Index = self.rows if destination.extent == "blocks" else 1
        target = self._view(self._buffer(destination), 0, [rows, destination.dtype.c0], [destination.dtype.c0, 1])
        self.w.add(vector_op("block_broadcast", self._view(self._buffer(source), 0, [rows], [1]), target))

    def _fold(self, step: Fold) -> None:
        extent = step.destination.extent
        rows, cols = self.rows, self.cols
        source = self._view(self._buffer(step.source), 0, [rows, cols], [self.tile.pitch, 1])
        target = self._vector(step.destination, rows if extent == "rows" else cols)
        self.w.add(vector_op(step.name, source, target, self._buffer(step.work), axis=step.axis))

    def _iota(self, step: Iota) -> None:
        register, window = step.register, step.window
        start: Index = window.offset
        for index, stride in zip((*self.outer, self.r0, self.c0), (*window.outer, window.row, window.col), strict=True):
            start = self.w.sum(start, self.w.product(index, stride))
        name = "duplicate" if register.extent == "block" or not (window.row or window.col) else "iota"
        scalar = self._index_scalar(start, register.dtype)
        self.w.add(vector_op(name, scalar, self._vector(register, self._length(register))))

    def _index_scalar(self, value: Index, element: DType) -> SSAValue:
        if isinstance(value, int):
            return self._scalar(value, element)
        type_ = scalar_type(element)
        wide = self.w.value(arith.IndexCastOp(value, i64))
        if element.is_float:
            return self.w.value(arith.SIToFPOp(wide, type_))  # pyright: ignore[reportArgumentType]
        if element.bytes == 8:
            return wide
        return self.w.value(arith.TruncIOp(wide, IntegerType(8 * element.bytes)))


def build_kernel(
    name: str,
    nests: Sequence[Nest],
    arg_types: Sequence[Buffer],
    arg_names: Sequence[str],
    inputs: int,
    target: Target,
    block_dim: int | None,
    location: LocationAttr,
) -> ascend.KernelOp:
    """The kernel that runs the nests one after another over its GM arguments (inputs, then outputs)."""
    cores = block_dim or target.vector_cores
    tiles = [choose_tile(nest.space, nest.program, target, cores) for nest in nests]
    kernel = ascend.KernelOp(name, arg_types, 1, Region(Block(arg_types=list(arg_types))))
    kernel.location = location
    block = kernel.body.block
    for arg, hint in zip(block.args, arg_names, strict=True):
        arg.name_hint = hint if SSAValue.is_valid_name(hint) else None
        arg.location = location
    end = block.last_op
    assert end is not None
    end.detach()
    writer = Writer(block, location)
    writers = [
        NestWriter(writer, nest, block.args, inputs, tile, f"n{k}_" if len(nests) > 1 else "")
        for k, (nest, tile) in enumerate(zip(nests, tiles, strict=True))
    ]
    block_idx = writer.value(ascend.BlockIdxOp(), "block_idx")
    block_num = writer.value(ascend.BlockNumOp(), "block_num")
    for nest_writer in writers:
        nest_writer.write(block_idx, block_num)
    writer.add(end)
    parallel = max(num_elements(w.counts()[0]) for w in writers)
    kernel.block_dim = IntegerAttr(block_dim or min(cores, parallel), i64)
    return kernel


def gm_type(type_: Tensor) -> Buffer:
    """The GM buffer of a tensor."""
    return buffer(type_.get_shape(), type_.element_type, memory.GM)
