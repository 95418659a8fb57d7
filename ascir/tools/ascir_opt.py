"""`ascir-opt`, the command: textual IR in, IR or C out. What it does is in `driver.py`; here it only starts fast.

It is run once per file, so start-up is what users wait for: NumPy is never imported, dialects only when their first op is met,
and the garbage collector does not search through classes that live as long as the process.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the driver; 0 when it printed what was asked for, 1 when the input is at fault, 2 when the command line is."""
    gc.disable()
    from ascir.tools.driver import drive
    from ascir.tools.shell import run_tool

    gc.freeze()
    gc.enable()
    return run_tool("ascir-opt", lambda: drive(arguments))


if __name__ == "__main__":
    sys.exit(main())
