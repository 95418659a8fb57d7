"""Sizes that are not known: what a traced shape holds where a TensorSpec said None."""

from __future__ import annotations

from typing import NoReturn

from ascir.source import fail


class UnknownSize:
    """A dimension given as None in a TensorSpec: it can be passed on to `reshape` and `broadcast_to`, but has no number."""

    def __init__(self, axis: int):
        self.axis = axis

    def __repr__(self) -> str:
        return "?"

    def refuse(self, *_: object) -> NoReturn:
        """An AscirError that asks for the size."""
        fail(f"the size of axis {self.axis} is not known", "give ascir.TensorSpec a number in the place of None, or compile with an array")

    __index__ = __int__ = __float__ = __bool__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = refuse  # pyright: ignore
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __pow__ = __rpow__ = refuse
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __neg__ = refuse
    __hash__ = object.__hash__
