"""Writes the parts of README.md that show what ascir prints, from a run of the code that README shows.

    python docs/first_minute.py            writes README.md and docs/gelu_timeline.svg
    python docs/first_minute.py --check    exits with 1 if either would change

What a reader sees is what the code beside it gave, so it cannot go stale unnoticed: `tests/unit/test_docs.py` runs the check. Read
`main`, then `example` (IR, C, profile), `fault` (a message of the emulator) and `timeline` (the picture).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import dedent
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

from ascir.backend_c.report import Event, Profile
from ascir.cli import main as ascir
from ascir.machine.target import PIPES

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
TIMELINE = ROOT / "docs" / "gelu_timeline.svg"


def main() -> int:
    """Write, or say what is out of date; the exit code."""
    readme = README.read_text(encoding="utf-8")
    with workshop():
        names = run_python(readme)
        readme = replace_part(readme, "example", example(names["k"], names["r"]))
        readme = replace_part(readme, "fault", fault())
    wanted = {README: readme, TIMELINE: timeline(names["r"])}
    changed = [path for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in changed:
        name = path.relative_to(ROOT)
        if "--check" in sys.argv[1:]:
            print(f"{name} is out of date; run: python docs/first_minute.py", file=sys.stderr)
        else:
            path.write_text(wanted[path], encoding="utf-8")
            print(f"{name} written")
    return int("--check" in sys.argv[1:] and bool(changed))


@contextmanager
def workshop() -> Generator[None]:
    """A folder to run in, with `examples/` and two vectors, so that messages name `gelu.py` and not a place on this machine."""
    with TemporaryDirectory() as folder, chdir(folder):
        Path("examples").symlink_to(ROOT / "examples")
        np.save("x.npy", np.arange(1000, dtype=np.float32))
        np.save("y.npy", np.ones(1000, np.float32))
        yield


def python_blocks(readme: str) -> list[str]:
    """The Python that README shows."""
    return re.findall(r"^```python\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)


def run_python(readme: str) -> dict[str, Any]:
    """README's first Python block run as `gelu.py`; its variables."""
    source = python_blocks(readme)[0]
    Path("gelu.py").write_text(source, encoding="utf-8")
    names: dict[str, Any] = {"__name__": "gelu"}
    with redirect_stdout(StringIO()):
        exec(compile(source, "gelu.py", "exec"), names)
    return names


def replace_part(readme: str, name: str, text: str) -> str:
    """README with `text` between the markers `<!-- name: … -->` and `<!-- end of name -->`."""
    before, start, rest = re.split(rf"(<!-- {name}: [^\n]* -->\n)", readme)
    _, end, after = rest.partition(f"<!-- end of {name} -->\n")
    assert end, f"README.md has no '<!-- end of {name} -->'"
    return f"{before}{start}\n{text}\n\n{end}{after}"


# What the operator becomes


def example(compiled: Any, profile: Profile) -> str:
    """IR as traced and as fused, the C, what a run came to, and where its picture is."""
    picture = f"![What each pipe of core 0 did, and when]({TIMELINE.relative_to(ROOT)})"
    return "\n\n".join(
        (
            'Traced, `k.ir("trace")`: what the function does, in the `ascend` dialect.',
            fenced("mlir", function(compiled.ir("trace"))),
            'Fused, `k.ir("fuse-operators")`: one kernel, so `x` is read once and the result written once; computed in f32, rounded once;\n'
            "`x**3` has become two products.",
            fenced("mlir", function(compiled.ir("fuse-operators"))),
            "In C, `k.c_source`, with tiles, buffers, and flags between the pipes; an instruction names the line it comes from.",
            fenced("c", shortened(compiled.c_source)),
            "Run, `print(r)`:",
            fenced("text", str(profile)),
            picture,
        )
    )


def fenced(language: str, text: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```"


def function(module: str) -> str:
    """The function in a module that holds nothing else."""
    return dedent("\n".join(module.splitlines()[1:-1]))


def shortened(source: str) -> str:
    """The kernel of a C source, its allocations and the middle of its arithmetic left out and counted."""
    lines = source.splitlines()
    start = next(k for k, line in enumerate(lines) if "__aicore__" in line)
    end = lines.index("}", start)
    allocations = [k for k, line in enumerate(lines) if "__alloc_ub" in line]
    products = [k for k, line in enumerate(lines) if "__hcc_mul(" in line]
    return "\n".join(
        (
            *lines[start : allocations[0] + 1],
            left_out(lines[allocations[1] : allocations[-1] + 1], "buffers"),
            *lines[allocations[-1] + 1 : products[0] + 1],
            left_out(lines[products[0] + 1 : products[-1]], "instructions"),
            *lines[products[-1] : end + 1],
        )
    )


def left_out(lines: Sequence[str], what: str) -> str:
    indent = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    return f"{indent}// … {len(lines)} more {what}"


def fault() -> str:
    """What `ascir run` says to a kernel without flags, when nobody places any."""
    command = "ascir run examples/vadd.mlir --input x.npy y.npy 1000 --sync unchecked"
    said = StringIO()
    with redirect_stderr(said):
        code = ascir(command.split()[1:])
    assert code == 1, f"expected a fault from: {command}"
    return fenced("text", f"$ {command}\n{said.getvalue()}")


# The picture: a lane a pipe, a box an instruction, on one core

LEFT, RIGHT, TOP, LANE, BOX = 64, 24, 38, 34, 24
PIXELS_PER_US = 1500
TICK_US = 0.1
MIN_TEXT = 7.2
"""Width of a character, at most: a name that does not fit into its box is left to the tooltip."""

STYLE = """\
  svg { color-scheme: light dark }
  text { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #1f2328 }
  .paper { fill: #ffffff } .lane { fill: #f3f5f7 } .tick { stroke: #d1d9e0 } .quiet { fill: #59636e }
  .box { stroke: #f3f5f7 }
  .MTE2 { fill: #9ecbff } .V { fill: #a6e3b0 } .MTE3 { fill: #ffd08a } .S { fill: #d9c2f5 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .paper { fill: #0d1117 } .lane { fill: #161b22 } .tick { stroke: #30363d } .quiet { fill: #9198a1 }
    .box { stroke: #161b22 }
    .MTE2 { fill: #1f4f8f } .V { fill: #1d6b35 } .MTE3 { fill: #8a5410 } .S { fill: #5b3a8c }
  }"""


def timeline(profile: Profile, core: int = 0) -> str:
    """An SVG of what one core did; it has a background of its own, so it reads on any page."""
    events = [event for event in profile.events if event.core == core]
    pipes = sorted({event.pipe for event in events}, key=lambda pipe: min(e.start for e in events if e.pipe == pipe))
    assert set(pipes) <= set(PIPES)
    first, last = profile.launch_us, max(event.start + event.duration for event in events)
    scale = Scale(first, round((last - first) / TICK_US + 0.5))
    height = TOP + LANE * len(pipes) + 30
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {scale.width} {height}" role="img" aria-labelledby="title">',
        f'<title id="title">{escape(f"{profile.kernels[0]} on core {core} of {profile.cores}, in µs")}</title>',
        f"<style>\n{STYLE}\n</style>",
        f'<rect class="paper" width="{scale.width}" height="{height}" rx="6"/>',
        f'<text x="{LEFT}" y="22">{escape(f"{profile.kernels[0]}, core {core} of {profile.cores}")}</text>',
        f'<text class="quiet" x="{scale.width - RIGHT}" y="22" text-anchor="end">µs since the operator was called</text>',
    ]
    parts += [lane(pipe, TOP + LANE * row, scale.width) for row, pipe in enumerate(pipes)]
    parts += scale.ticks(TOP, TOP + LANE * len(pipes))
    parts += [box(event, TOP + LANE * pipes.index(event.pipe), scale) for event in events]
    return "\n".join((*parts, "</svg>", ""))


class Scale:
    """Microseconds to pixels, from `start` for so many ticks."""

    def __init__(self, start: float, count: int):
        self.start = start
        self.count = count
        self.width = round(LEFT + count * TICK_US * PIXELS_PER_US + RIGHT)

    def x(self, us: float) -> float:
        return LEFT + (us - self.start) * PIXELS_PER_US

    def ticks(self, top: int, bottom: int) -> Iterator[str]:
        for number in range(self.count + 1):
            us = self.start + number * TICK_US
            yield f'<line class="tick" x1="{self.x(us):.1f}" x2="{self.x(us):.1f}" y1="{top}" y2="{bottom}"/>'
            yield f'<text class="quiet" x="{self.x(us):.1f}" y="{bottom + 18}" text-anchor="middle">{us:.1f}</text>'


def lane(pipe: str, y: int, width: int) -> str:
    return (
        f'<rect class="lane" x="{LEFT}" y="{y + 2}" width="{width - LEFT - RIGHT}" height="{LANE - 4}" rx="3"/>'
        f'<text x="{LEFT - 10}" y="{y + LANE / 2 + 4:g}" text-anchor="end">{pipe}</text>'
    )


def box(event: Event, y: int, scale: Scale) -> str:
    """An instruction; its tooltip says when, how long, how much, and from which line."""
    width = event.duration * PIXELS_PER_US
    tooltip = f"{event.name} {event.dtype}, {event.elements} elements, {event.location}: {event.start:.3f} µs + {event.duration:.3f} µs"
    rect = f'<rect class="box {event.pipe}" x="{scale.x(event.start):.1f}" y="{y + 5}" width="{width:.1f}" height="{BOX}" rx="2"/>'
    middle = scale.x(event.start + event.duration / 2)
    name = f'<text x="{middle:.1f}" y="{y + LANE / 2 + 4:g}" text-anchor="middle">{event.name}</text>'
    return f"<g><title>{escape(tooltip)}</title>{rect}{name if width > MIN_TEXT * len(event.name) else ''}</g>"


if __name__ == "__main__":
    sys.exit(main())
