"""From the text of `-p` and `-t` to passes and targets, with one line for each mistake a person can make there.

xDSL reads the same syntax, `name{option=value other=1,2},name`, but refuses a space after a comma and reports mistakes in several
lines without saying what exists. Spaces around punctuation are free here, and an unknown name is answered with the nearest.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar, get_type_hints

from xdsl.utils.arg_spec import ArgSpec, ArgSpecConvertible, ParameterListType, parse_pipeline
from xdsl.utils.exceptions import ArgSpecParseError
from xdsl.utils.hints import type_repr

from ascir.diagnostics import UsageError, did_you_mean

_Made = TypeVar("_Made", bound=ArgSpecConvertible)

_QUOTED_OR_PUNCTUATION = re.compile(r'("(?:\\.|[^"\\])*"|\[[^\]]*\])|\s*([,{}=])\s*')


def tidy(text: str) -> str:
    """The text without spaces around punctuation; only those between two options of a pass mean something."""
    joined = _QUOTED_OR_PUNCTUATION.sub(lambda match: match[1] or match[2], text)
    return re.sub(r"\}(?=[\w-])", "} ", joined).strip()


def parse_specs(option: str, text: str) -> list[ArgSpec]:
    """The specifications in the text of command line option `option`; UsageError names the column of a mistake."""
    try:
        return list(parse_pipeline(tidy(text)))
    except ArgSpecParseError as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        column = lines[1].rpartition(":")[2]
        raise UsageError(f"cannot read {option} '{tidy(text)}': {lines[-1]} (column {column})") from None


def parse_spec(option: str, text: str) -> ArgSpec:
    """The one specification in the text of `option`."""
    specs = parse_specs(option, text)
    if len(specs) != 1:
        raise UsageError(f"{option} takes one name, got '{text}'")
    return specs[0]


def make(kind: str, spec: ArgSpec, known: Mapping[str, Callable[[], type[_Made]]]) -> _Made:
    """The pass or target (`kind`) that a specification asks for; UsageError with the nearest name for what does not exist."""
    if spec.name not in known:
        raise UsageError(f"unknown {kind} '{spec.name}'; {did_you_mean(spec.name, known)}")
    made = known[spec.name]()
    options = {field.name: field for field in dataclasses.fields(made) if field.init}
    for given in spec.parameters:
        _check_option(f"{kind} '{spec.name}'", given, options)
    try:
        return made.from_spec(spec)
    except ValueError as error:
        raise UsageError(_option_mistake(kind, spec, made) or f"{kind} '{spec.name}': {error}") from None


def _check_option(owner: str, given: str, options: Iterable[str]) -> None:
    names = [name.replace("_", "-") for name in options]
    if given.replace("_", "-") in names:
        return
    if not names:
        raise UsageError(f"{owner} takes no options, got '{given}'")
    raise UsageError(f"{owner} has no option '{given}'; {did_you_mean(given, names)}")


def _option_mistake(kind: str, spec: ArgSpec, made: type[ArgSpecConvertible]) -> str | None:
    """Which option has a value of the wrong type, in words; None when something else is wrong."""
    parameters = spec.normalize_parameter_names().parameters
    for missing in sorted(made.required_fields() - parameters.keys()):
        return f"{kind} '{spec.name}' needs the option '{missing.replace('_', '-')}'"
    types = get_type_hints(made)
    for name, value in parameters.items():
        others = {k: v for k, v in parameters.items() if k == name or k in made.required_fields()}
        try:
            made.from_spec(ArgSpec(spec.name, others))
        except ValueError as error:
            if "Incompatible types" in str(error) or "must contain a value" in str(error):
                wanted = type_repr(types[name])
                return f"option '{name.replace('_', '-')}' of {kind} '{spec.name}' takes {wanted}, got {_shown(value)}"
    return None


def _shown(value: ParameterListType) -> str:
    words = [str(part).lower() if isinstance(part, bool) else str(part) for part in value]
    return f"'{','.join(words)}'" if words else "no value"
