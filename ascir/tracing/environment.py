"""What a function reads besides its arguments: globals, variables of enclosing functions, and those of the functions it calls.

A traced program has their values in it, so they belong to the key under which it is cached: a constant that changes makes a new
program instead of a wrong answer. Modules, classes and objects are followed to the attributes whose names the code mentions.
Not seen: what is read by other ways (files, `getattr` with a computed name, random numbers); those are read once, when traced.
"""

from __future__ import annotations

import dis
import zlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import Any, cast

import numpy as np

from .arguments import Identity, describe
from .trace import Array, is_array, is_dict, is_sequence

_FOREIGN = ("numpy", "ascir", "ml_dtypes", "math", "builtins", "typing", "functools", "operator", "itertools", "collections")
"""Top packages whose functions read no variable of the author's."""

SMALL_ARRAY_BYTES = 16 * 1024
"""Arrays up to this size are compared by content at every call (some microseconds)."""

MAX_DEPTH = 8
"""How far structures are followed: they may be circular."""

_MISSING = object()


@dataclass(frozen=True)
class Watch:
    """One variable: where it is read from, and the attribute names that the code may read of it."""

    name: str
    read: Callable[[], Any]
    attributes: frozenset[str]


class Environment:
    """The variables that `function` reads, found anew by `refresh`."""

    def __init__(self, function: Callable[..., Any]):
        self._function = function
        self._watches: list[Watch] = []
        self._summed: set[int] = set()

    def refresh(self) -> bool:
        """Look at the code again (it may call other functions now); whether there is something new to watch."""
        before = [(w.name, w.attributes) for w in self._watches]
        functions, names = _reachable(self._function)
        watches = [Watch(name, read, names) for function in functions for name, read in _variables(function)]
        self._watches = [w for w in watches if not (isinstance(value := w.read(), ModuleType) and _is_foreign(value))]
        return before != [(w.name, w.attributes) for w in self._watches]

    def key(self) -> Hashable:
        """Equal as long as no variable changed."""
        return tuple([self._key(w.read(), w.attributes) for w in self._watches]) if self._watches else None

    def arrays(self) -> Mapping[int, tuple[str, Array]]:
        """The arrays among the variables, by id, with their names."""
        found: dict[int, tuple[str, Array]] = {}
        for watch in self._watches:
            _gather(watch.name, watch.read(), watch.attributes, found, 0)
        return found

    def sum_content(self, ids: set[int]) -> None:
        """Compare these arrays by content from now on, however large: the program was computed from their values."""
        self._summed |= ids

    def _key(self, value: Any, attributes: frozenset[str], depth: int = 0) -> Hashable:
        if is_array(value):
            return self._array_key(value)
        if depth > MAX_DEPTH:
            return Identity(value)
        if is_sequence(value):
            return type(value), *[self._key(v, attributes, depth + 1) for v in value]
        if is_dict(value):
            return dict, *[(k, self._key(v, attributes, depth + 1)) for k, v in value.items()]
        if isinstance(value, set | frozenset):
            return frozenset(cast(Iterable[Any], value))
        named = tuple((n, self._key(v, attributes, depth + 1)) for n, v in _members(value, attributes))
        return describe(value, []) if not named else (Identity(value), named)

    def _array_key(self, array: Array) -> Hashable:
        compared = array.nbytes <= SMALL_ARRAY_BYTES or id(array) in self._summed
        content = zlib.crc32(np.ascontiguousarray(array).tobytes()) if compared and not array.dtype.hasobject else None
        return Identity(array), array.shape, array.dtype, content


def _members(value: Any, attributes: frozenset[str]) -> Iterator[tuple[str, Any]]:
    """The attributes of a module, class or object that the code mentions."""
    if isinstance(value, FunctionType) or _is_foreign(value):
        return
    own: Mapping[str, Any] = getattr(value, "__dict__", {})
    for name in attributes:
        found = own.get(name, _MISSING)
        if found is not _MISSING and not isinstance(found, ModuleType):
            yield name, found


def _gather(name: str, value: Any, attributes: frozenset[str], found: dict[int, tuple[str, Array]], depth: int) -> None:
    if is_array(value):
        found[id(value)] = (name, value)
        return
    if depth > MAX_DEPTH:
        return
    items: Iterable[tuple[Any, Any]] = _members(value, attributes)
    if is_sequence(value):
        items = ((name, item) for item in value)
    elif is_dict(value):
        items = value.items()
    for key, item in items:
        _gather(str(key), item, attributes, found, depth + 1)


def _is_foreign(value: Any) -> bool:
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    return isinstance(name, str) and name.split(".")[0] in _FOREIGN


def _reachable(function: Callable[..., Any]) -> tuple[list[FunctionType], frozenset[str]]:
    """The author's functions that `function` may call, itself first, and every name that their code mentions."""
    found: list[FunctionType] = []
    names: set[str] = set()
    _add(function, found)
    known = -1
    while known != len(names) + len(found):
        known = len(names) + len(found)
        for each in list(found):
            names.update(_names(each.__code__))
            for _, read in _variables(each):
                for value in _callables(read(), frozenset(names)):
                    _add(value, found)
    return found, frozenset(names)


def _add(value: Any, found: list[FunctionType]) -> None:
    """Unwrap partials, methods and operators, and add a new function of the author's."""
    for attribute in ("func", "__func__", "__wrapped__"):
        if not isinstance(value, FunctionType):
            value = getattr(value, attribute, value)
    if isinstance(value, FunctionType) and value not in found and not _is_foreign(value):
        found.append(value)


def _callables(value: Any, names: frozenset[str], depth: int = 0) -> Iterator[Any]:
    """What may be called of a variable: itself, what it holds, its attributes and methods that the code mentions."""
    yield value
    if depth > MAX_DEPTH or _is_foreign(value):
        return
    held: list[Any] = [member for _, member in _members(value, names)]
    if is_sequence(value):
        held = list(value)
    elif is_dict(value):
        held = list(value.values())
    for item in held:
        yield from _callables(item, names, depth + 1)
    yield from (getattr(cast(Any, type(value)), name, None) for name in names)


def _variables(function: FunctionType) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Names of the globals and enclosing variables that the code may read, and how to read them."""
    outside = function.__globals__
    for name in _globals(function.__code__):
        if name in outside:
            yield name, lambda name=name: outside.get(name, _MISSING)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, lambda cell=cell: _content(cell)


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _MISSING


@lru_cache(maxsize=1024)
def _globals(code: CodeType) -> tuple[str, ...]:
    """Names that the code, and functions within it, read as globals."""
    own = {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    within = (name for constant in code.co_consts if isinstance(constant, CodeType) for name in _globals(constant))
    return tuple(sorted(own.union(within)))


def _names(code: CodeType) -> Iterator[str]:
    """Names of globals and attributes that the code, and functions within it, mention."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
