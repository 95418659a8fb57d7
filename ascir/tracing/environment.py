"""What a function reads besides its arguments: globals, variables of enclosing functions, and those of the functions it calls.

A traced program has their values in it, so they belong to the key under which it is cached: a constant that changes makes a new
program instead of a wrong answer. Modules, classes and objects are followed to the attributes whose names the code mentions.
Not seen: what is read by other ways (files, `globals()`, `getattr` with a computed name, random numbers, iterators); those are read
once, when traced.
"""

from __future__ import annotations

import array
import dis
import zlib
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from types import CodeType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any, cast

import numpy as np

from .arguments import Identity, describe
from .trace import Array, is_array, is_dict, is_sequence

_FOREIGN = ("numpy", "ascir", "ml_dtypes", "math", "builtins", "typing", "functools", "operator", "itertools", "collections")
"""Top packages whose functions read no variable of the author's."""

SMALL_ARRAY_BYTES = 16 * 1024
"""Arrays up to this size are compared by content at every call (some microseconds)."""

_IMPLIED = ("__call__", "__getitem__", "__getattr__", "__iter__", "__len__")
"""Methods that code calls without a mention of their names."""

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
        watches += [Watch(f.__name__, partial(_defaults, f), names) for f in functions if f is not self._function]
        if not isinstance(self._function, FunctionType):
            watches.append(Watch("self", lambda: _owner(self._function), names))
        self._watches = [w for w in watches if not (isinstance(value := w.read(), ModuleType) and _is_foreign(value))]
        return before != [(w.name, w.attributes) for w in self._watches]

    def key(self) -> Hashable:
        """Equal as long as no variable changed."""
        if not self._watches:
            return None
        seen: set[int] = set()
        return tuple([self._key(w.read(), w.attributes, seen) for w in self._watches])

    def arrays(self) -> Mapping[int, tuple[str, Array]]:
        """The arrays among the variables, by id, with their names."""
        found: dict[int, tuple[str, Array]] = {}
        for watch in self._watches:
            _gather(watch.name, watch.read(), watch.attributes, found, set(), 0)
        return found

    def sum_content(self, ids: set[int]) -> None:
        """Compare these arrays by content from now on, however large: the program was computed from their values."""
        self._summed |= ids

    def _key(self, value: Any, attributes: frozenset[str], seen: set[int], depth: int = 0) -> Hashable:
        """`seen` has the objects that are in the key already: they may refer to each other."""
        if is_array(value):
            return self._array_key(value)
        if depth > MAX_DEPTH:
            return Identity(value)
        if _is_list(value):
            return cast(type[Any], type(value)), *[self._key(v, attributes, seen, depth + 1) for v in value]
        if isinstance(value, bytearray):
            return bytearray, bytes(value)
        if isinstance(value, FunctionType):
            return Identity(value), Identity(value.__code__)
        if isinstance(value, MethodType):
            return Identity(value.__func__), self._key(value.__self__, attributes, seen, depth + 1)
        if _is_table(value):
            return dict, *[(k, self._key(v, attributes, seen, depth + 1)) for k, v in value.items()]
        if isinstance(value, set | frozenset):
            return frozenset(cast(Iterable[Any], value))
        if id(value) in seen:
            return Identity(value)
        members = list(_members(value, attributes))
        if not members:
            return describe(value, [])
        seen.add(id(value))
        return Identity(value), *[(n, self._key(v, attributes, seen, depth + 1)) for n, v in members]

    def _array_key(self, array: Array) -> Hashable:
        compared = array.nbytes <= SMALL_ARRAY_BYTES or id(array) in self._summed
        content = zlib.crc32(np.ascontiguousarray(array).tobytes()) if compared and not array.dtype.hasobject else None
        return Identity(array), array.shape, array.dtype, content


def _members(value: Any, attributes: frozenset[str]) -> Iterator[tuple[str, Any]]:
    """The attributes of a module, class or object that the code mentions."""
    if isinstance(value, FunctionType) or _is_foreign(value):
        return
    own: Mapping[str, Any] = getattr(value, "__dict__", {})
    classes = cast(tuple[Any, ...], () if isinstance(value, ModuleType) else _class_of(value).__mro__[:-1])
    for name in attributes:
        found = own.get(name, _MISSING)
        if found is _MISSING:
            found = next((c.__dict__[name] for c in classes if name in c.__dict__), _MISSING)
            if isinstance(found, MemberDescriptorType):
                found = getattr(value, name, _MISSING)
        if found is not _MISSING and not isinstance(found, ModuleType):
            yield name, found


def _class_of(value: Any) -> type[Any]:
    return value if isinstance(value, type) else type(value)


def _owner(function: Any) -> Any:
    """What a callable that is no function reads from: the object of a method, the parts of a partial, or itself."""
    if isinstance(function, partial):
        return _owner(function.func), function.args, function.keywords
    return function.__self__ if isinstance(function, MethodType) else function


def _defaults(function: FunctionType) -> Any:
    return function.__defaults__, function.__kwdefaults__


def _is_list(value: Any) -> bool:
    return is_sequence(value) or isinstance(value, deque | array.array)


def _is_table(value: Any) -> bool:
    return is_dict(value) or isinstance(value, Mapping)


def _gather(name: str, value: Any, attributes: frozenset[str], found: dict[int, tuple[str, Array]], seen: set[int], depth: int) -> None:
    if is_array(value):
        found[id(value)] = (name, value)
        return
    if depth > MAX_DEPTH or id(value) in seen:
        return
    members = list(_members(value, attributes))
    if members:
        seen.add(id(value))
    items: Iterable[tuple[Any, Any]] = members
    if _is_list(value):
        items = ((name, item) for item in value)
    elif _is_table(value):
        items = value.items()
    for key, item in items:
        _gather(str(key), item, attributes, found, seen, depth + 1)


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
        values = [_owner(function)]
        for each in found:
            names.update(_names(each.__code__))
            values += [read() for _, read in _variables(each)]
        for value in values:
            for callable_ in _callables(value, frozenset(names), set()):
                _add(callable_, found)
    return found, frozenset(names)


def _add(value: Any, found: list[FunctionType]) -> None:
    """Unwrap partials, methods and operators, and add a new function of the author's."""
    for attribute in ("func", "__func__", "__wrapped__", "fget"):
        if not isinstance(value, FunctionType):
            value = getattr(value, attribute, value)
    if isinstance(value, FunctionType) and value not in found and not _is_foreign(value):
        found.append(value)


def _callables(value: Any, names: frozenset[str], seen: set[int], depth: int = 0) -> Iterator[Any]:
    """What may be called of a variable: itself, what it holds, its attributes and methods that the code mentions."""
    yield value
    if depth > MAX_DEPTH or _is_foreign(value) or id(value) in seen:
        return
    held: list[Any] = [member for _, member in _members(value, names)]
    if held:
        seen.add(id(value))
    if _is_list(value):
        held = list(value)
    elif _is_table(value):
        held = list(value.values())
    for item in held:
        yield from _callables(item, names, seen, depth + 1)
    yield from (getattr(cast(Any, type(value)), name, None) for name in names.union(_IMPLIED))


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
    """Names of globals and attributes that the code, and functions within it, mention, also as text for `getattr`."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
        elif isinstance(constant, str) and "getattr" in code.co_names:
            yield constant
