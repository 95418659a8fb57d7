"""`ascir run` and `ascir compile`: read the inputs, hand them to what `source.py` loaded, save or show what comes back."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from typing import cast

import numpy as np

from ascir.backend_c.schedule import schedule
from ascir.diagnostics import UsageError
from ascir.operator import TensorSpec

from .shell import unreadable
from .source import Array, Input, Wishes, load

SHOWN = 6
"""Elements of a result that are printed when it is not saved."""


def run(args: argparse.Namespace) -> None:
    """Run once; a second time with a trace for `--profile` and `--trace`."""
    with schedule(args.schedule, args.seed):
        _run(args)


def _run(args: argparse.Namespace) -> None:
    source = load(args.file, Wishes(args.block_dim, args.sync))
    inputs = [_input(text) for text in args.input]
    results = source.results(inputs)
    if len(args.output) > len(results):
        raise UsageError(f"{args.file} gives {len(results)} results, got {len(args.output)} names to save them under")
    for number, result in enumerate(results):
        if number < len(args.output):
            _save(args.output[number], result)
        else:
            print(f"result {number}: {_shown(result)}")
    if args.profile or args.trace:
        profile = source.profile(inputs)
        if args.profile:
            print(profile)
        if args.trace:
            profile.save_trace(args.trace)
            print(f"timeline in {args.trace}, for ui.perfetto.dev")


def compile_(args: argparse.Namespace) -> None:
    """Print or save the C, or the IR after a pass."""
    inputs = [_input(text) for text in args.input]
    compiled = load(args.file).compiled(inputs)
    text = compiled.c_source if args.stage is None else f"{compiled.ir(args.stage)}\n"
    if args.output_file is None:
        print(text, end="")
        return
    try:
        with open(args.output_file, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"cannot write '{args.output_file}': {error.strerror}") from None


def _input(text: str) -> Input:
    """A number, a type such as `float16[8,1024]`, or the array in a .npy file."""
    spec = re.fullmatch(r"(\w+)\[([\d,\s]*)\]", text)
    if spec:
        return TensorSpec([int(size) for size in spec[2].split(",") if size.strip()], spec[1])
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            pass
    return _load(text)


def _load(path: str) -> Array:
    try:
        array = np.load(path, allow_pickle=False)
    except OSError as error:
        raise UsageError(unreadable(path, error)) from None
    except ValueError as error:
        raise UsageError(f"cannot read '{path}' as a NumPy array: {error}") from None
    if not isinstance(array, np.ndarray):
        raise UsageError(f"'{path}' holds several arrays; save one with np.save")
    return _as_bfloat16(cast(Array, array))


def _as_bfloat16(array: Array) -> Array:
    """NumPy saves bfloat16 as two bytes of no type; here they are bfloat16 again."""
    if array.dtype != np.dtype("V2"):
        return array
    import ml_dtypes

    return array.view(ml_dtypes.bfloat16)


def _save(path: str, array: Array) -> None:
    try:
        with open(path, "wb") as file:
            np.save(file, array)
    except OSError as error:
        raise UsageError(f"cannot write '{path}': {error.strerror}") from None
    print(f"{os.path.basename(path)}: {_shown(array)}")


def _shown(array: Array) -> str:
    first: Sequence[object] = array.reshape(-1)[:SHOWN].tolist()
    values = " ".join(f"{value:.6g}" if isinstance(value, float) else str(value) for value in first)
    more = " …" if array.size > SHOWN else ""
    return f"{array.dtype.name}[{', '.join(map(str, array.shape))}] = {values}{more}"
