"""`ascir demo`: a real operator on a real photograph, from NumPy to the emulated AI Core, with every stage left to look at.

The operator draws a pencil sketch: grey from RGB, differences to the right and lower neighbour, a soft threshold. Its windows,
casts and functions go through all passes; the picture that comes out is compared with the same function in NumPy.
"""

from __future__ import annotations

import argparse
import os
import struct
import time
import zlib
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from ascir.accuracy import accuracy
from ascir.operator import hybrid_operator

LUMA = np.array([0.299, 0.587, 0.114], np.float32)
"""How bright red, green and blue look (ITU-R BT.601)."""


@hybrid_operator
def sketch(image: Any) -> Any:
    """A pencil sketch of a photograph: uint8 [height, width, 3] to uint8 [height - 1, width - 1]."""
    grey = np.sum(image.astype(np.float32) * LUMA, axis=-1) / 255
    across = grey[:-1, 1:] - grey[:-1, :-1]
    down = grey[1:, :-1] - grey[:-1, :-1]
    ink = np.tanh(9 * np.sqrt(across * across + down * down))
    return (255 * (1 - ink)).astype(np.uint8)


def demo(args: argparse.Namespace) -> None:
    """Compile, run, compare, and say where everything lies."""
    folder = Path(args.output)
    folder.mkdir(parents=True, exist_ok=True)
    photograph = load_photograph()
    print(f"photograph: astronaut, uint8 {list(photograph.shape)} (NASA, public domain)")
    start = time.perf_counter()
    os.environ["ASCIR_DUMP"] = str(folder)
    try:
        result = sketch(photograph)
        seconds = time.perf_counter() - start
        profile = sketch.profile(photograph)
    finally:
        del os.environ["ASCIR_DUMP"]
    print(f"operator:   sketch(image), compiled and run in {seconds:.2f} s; {len(sketch.compile(photograph).stages)} stages")
    with np.errstate(all="ignore"):
        expected = sketch.function(photograph.astype(np.float64))
    _report(result, expected)
    print(f"\n{profile}\n")
    write_png(folder / "photograph.png", photograph)
    write_png(folder / "sketch.png", result)
    print(f"pictures    {folder}/photograph.png, {folder}/sketch.png")
    print(f"IR          {folder}/sketch.*.mlir, a file a pass")
    print(f"C           {folder}/sketch.c")
    print(f"timeline    {folder}/sketch.trace.json (open it in https://ui.perfetto.dev)")


def _report(result: np.ndarray, expected: np.ndarray) -> None:
    """Grey levels are whole numbers: a value that lies on a step may be rounded down to either side of it."""
    steps = np.abs(result.astype(int) - expected.astype(int))
    share = float((steps == 0).mean())
    verdict = "right" if steps.max() <= 1 and share > 0.98 else "WRONG"
    equal = f"{100 * share:.2f} % of the pixels equal NumPy's in float64"
    print(f"check:      {verdict}: {equal}, none is off by more than {steps.max()} of 255")
    if verdict != "right":
        print(accuracy(result, expected.astype(result.dtype)))


def load_photograph() -> np.ndarray:
    """The photograph that ships with ascir, uint8 [256, 256, 3]."""
    with (files("ascir") / "data" / "astronaut.npy").open("rb") as file:
        return np.load(file)


def write_png(path: Path, image: np.ndarray) -> None:
    """Write uint8 [height, width] (grey) or [height, width, 3] (RGB); PNG is zlib behind four headers, no library needed."""
    height, width = image.shape[:2]
    rows = np.concatenate([np.zeros((height, 1), np.uint8), image.reshape(height, -1)], axis=1)
    color = 2 if image.ndim == 3 else 0
    header = struct.pack(">IIBBBBB", width, height, 8, color, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b""))
    body = b"".join(struct.pack(">I", len(d)) + t + d + struct.pack(">I", zlib.crc32(t + d)) for t, d in chunks)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + body)
