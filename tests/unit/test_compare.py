"""`ascir compare`: counts, positions and verdicts against NumPy's own, one message for a file that cannot be read, pieces that add up."""

import tracemalloc
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from ascir.accuracy import accuracy
from ascir.cli import main
from ascir.tools import compare


class Desk:
    """A folder of arrays, and the command run on two of them."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]):
        self.folder = folder
        self.capsys = capsys

    def save(self, name: str, values: Any) -> str:
        np.save(self.folder / name, values)
        return name

    def compare(self, *arguments: str, code: int) -> str:
        assert main(["compare", *arguments]) == code
        captured = self.capsys.readouterr()
        assert bool(captured.err) == (code == 2)
        return captured.err if code == 2 else captured.out

    def of(self, golden: Any, result: Any, *options: str, code: int) -> str:
        return self.compare(self.save("g.npy", golden), self.save("r.npy", result), *options, code=code)


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.chdir(tmp_path)
    return Desk(tmp_path, capsys)


def row(printed: str, name: str) -> str:
    """What stands behind the name of a line."""
    (line,) = [line for line in printed.splitlines() if line.split()[: len(name.split())] == name.split()]
    return line.strip()[len(name) :].strip()


REFERENCE = np.random.default_rng(0).normal(size=(64, 100))


# verdicts


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32])
def test_a_rounded_result_is_right(desk: Desk, dtype: Any) -> None:
    printed = desk.of(REFERENCE, REFERENCE.astype(dtype), code=0)
    assert row(printed, "golden") == "float64[64, 100] in g.npy"
    assert row(printed, "result") == f"{np.dtype(dtype).name}[64, 100] in r.npy"
    assert row(printed, "mismatches").startswith("0 of 6400 (0 %)")
    assert row(printed, "verdict") == "right, by the rule"
    assert not any(line.startswith("first") for line in printed.splitlines())


def test_one_element_beyond_ten_tau_is_found(desk: Desk) -> None:
    result = REFERENCE.astype(np.float16)
    result[3, 7] = result[3, 7] * np.float16(1.5)
    result[9, 1] = result[9, 1] * np.float16(3)
    printed = desk.of(REFERENCE, result, code=1)
    assert row(printed, "mismatches") == "2 of 6400 (0.03125 %): a relative error of 9.8e-03 or more"
    assert row(printed, "first").startswith(f"at (3, 7): golden {REFERENCE[3, 7]:.9g}, result {float(result[3, 7]):.9g}, absolute error ")
    assert row(printed, "worst").startswith(f"at (9, 1): golden {REFERENCE[9, 1]:.9g}")
    assert row(printed, "worst").endswith("relative 2")
    assert row(printed, "rule").startswith("wrong: mean relative error ")
    assert row(printed, "verdict") == "WRONG, by the rule"


def test_the_rules_verdict_is_accuracys(desk: Desk) -> None:
    rng = np.random.default_rng(1)
    for k in range(30):
        dtype = (np.float16, ml_dtypes.bfloat16, np.float32)[k % 3]
        reference = rng.normal(size=50) * 10.0 ** rng.integers(-8, 4)
        result = (reference * (1 + rng.normal(size=50) * 2.0 ** -rng.integers(4, 16))).astype(dtype)
        if k % 5 == 0:
            result[rng.integers(50)] = np.inf
        desk.of(reference, result, code=0 if accuracy(result, reference).ok else 1)


def test_a_mean_error_of_tau_is_wrong_though_no_element_is(desk: Desk) -> None:
    printed = desk.of(np.ones(100), np.full(100, 1 + 2.0**-12, np.float32), code=1)
    assert row(printed, "mismatches").startswith("0 of 100 (0 %)")
    assert row(printed, "rule") == "wrong: mean relative error 2.4e-04 (below 1.2e-04), max 2.4e-04 (below 1.2e-03) (float32)"


def test_nan_and_infinities_must_stand_in_the_same_places(desk: Desk) -> None:
    special = np.array([1, np.nan, np.inf, -np.inf])
    assert row(desk.of(special, special.astype(np.float32), code=0), "equal") == "4 of 4 (100 %)"
    for wrong in ([1, 1, np.inf, -np.inf], [np.nan, np.nan, np.inf, -np.inf], [1, np.nan, -np.inf, -np.inf], [1, np.nan, 3e38, -np.inf]):
        for options in ((), ("--rtol", "1e30")):
            printed = desk.of(special, np.array(wrong, np.float32), *options, code=1)
            assert row(printed, "mismatches").startswith("1 of 4 (25 %)")
            assert row(printed, "NaN or inf").startswith("1 ")


def test_integers_bools_and_float64_are_equal_or_wrong(desk: Desk) -> None:
    big = np.array([2**53 + 1, 5])
    desk.of(big, big, code=0)
    printed = desk.of(big, np.array([2**53, 5]), code=1)
    assert row(printed, "first").startswith("at (0): golden 9007199254740993, result 9007199254740992, absolute error 1, relative ")
    assert row(printed, "rule") == "wrong: elements without a tolerance must be equal"
    desk.of(np.float64(2**53), np.int64(2**53 + 1), code=1)
    desk.of(np.float64(2**53), np.int64(2**53), code=0)
    desk.of(np.array([1.5]), np.array([1]), code=1)
    desk.of(np.array([True, False]), np.array([True, True]), code=1)
    desk.of(np.array([1, 0]), np.array([True, False]), code=0)
    desk.of(np.array([-1], np.int8), np.array([255], np.uint8), code=1)
    desk.of(np.array([-1]), np.array([2**64 - 1], np.uint64), code=1)
    desk.of(np.array([1.0, np.nan]), np.array([1.0, np.nan]), code=0)
    desk.of(np.array([1.0]), np.array([1 + 2.0**-52]), code=1)


def test_the_distance_of_far_integers_does_not_overflow(desk: Desk) -> None:
    printed = desk.of(np.array([-(2**63)]), np.array([2**63 - 1]), code=1)
    assert "absolute error 1.84e+19" in row(printed, "worst")


def test_given_tolerances_decide_as_isclose_does(desk: Desk) -> None:
    rng = np.random.default_rng(2)
    result = (REFERENCE * (1 + rng.normal(size=REFERENCE.shape) * 1e-3)).astype(np.float32)
    for options in ({"rtol": 1e-3}, {"atol": 1e-3}, {"rtol": 0.0, "atol": 2e-3}, {"rtol": 0.5}, {}):
        rtol, atol = options.get("rtol", 1e-5), options.get("atol", 1e-8)
        close = np.isclose(result.astype(np.float64), REFERENCE, rtol, atol)
        given = [text for name, value in options.items() for text in (f"--{name}", str(value))] or ["--rtol", "1e-5"]
        printed = desk.of(REFERENCE, result, *given, code=0 if close.all() else 1)
        assert row(printed, "mismatches").startswith(f"{(~close).sum()} of 6400 ")
        assert row(printed, "verdict").endswith("by the tolerance given")
        assert row(printed, "rule").startswith("wrong: ")
        if not close.all():
            first = tuple(int(k) for k in np.argwhere(~close)[0])
            assert row(printed, "first").startswith(f"at {first}: ")


def test_another_dtype_lends_its_tolerance(desk: Desk) -> None:
    result = (REFERENCE * (1 + 2.0**-9)).astype(np.float32)
    desk.of(REFERENCE, result, code=1)
    assert row(desk.of(REFERENCE, result, "--dtype", "bfloat16", code=0), "rule").endswith("(bfloat16)")


def test_the_histogram_counts_every_element_in_its_decade(desk: Desk) -> None:
    errors = np.array([0, 3e-7, 5e-3, 6e-3, 0.2, 2e4, np.nan, 1e-30])
    printed = desk.of(np.ones(8), 1 + errors, code=1)
    assert f"  equal         2  {'█' * 24}\n" in printed  # 1 + 1e-30 is 1
    assert row(printed, "1e-7 to 1e-6").split() == ["1", "████████████"]
    assert row(printed, "1e-3 to 1e-2").split()[0] == "2"
    assert row(printed, "1e-2 to 1e-1") == "0"
    assert row(printed, "1e-1 to 1e0").split()[0] == "1"
    assert row(printed, "1e3 or more").split()[0] == "1"
    assert row(printed, "NaN or inf").split()[0] == "1"


# arrays of all kinds


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (1,), (2, 3, 4)])
def test_every_shape_has_a_verdict(desk: Desk, shape: tuple[int, ...]) -> None:
    array = np.full(shape, 2.5, np.float32)
    desk.of(array, array, code=0)
    if array.size:
        first = row(desk.of(array, array + np.float32(1), code=1), "first")
        assert first.startswith(f"at ({', '.join('0' * len(shape))}): golden 2.5, result 3.5")


def test_pieces_add_up_in_c_order_whatever_the_order_in_memory(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    result = REFERENCE.astype(np.float16)
    for index in ((5, 99), (17, 3), (63, 0)):
        result[index] = 100
    result[40, 40] = 500
    whole = desk.of(REFERENCE, result, code=1)
    monkeypatch.setattr(compare, "PIECE", 7)
    pieces = desk.of(REFERENCE, np.asfortranarray(result), code=1)
    assert row(pieces, "first").startswith("at (5, 99): ")
    assert row(pieces, "mismatches").startswith("4 of 6400 ")
    assert pieces == whole


def test_one_array_of_an_npz_is_named(desk: Desk) -> None:
    np.savez(desk.folder / "both.npz", golden=REFERENCE, other=np.arange(3))
    np.savez(desk.folder / "one.npz", REFERENCE)
    result = desk.save("r.npy", REFERENCE.astype(np.float32))
    desk.compare("both.npz:golden", result, code=0)
    desk.compare("one.npz", result, code=0)
    assert "'both.npz' holds 2 arrays; name one: both.npz:golden" in desk.compare("both.npz", result, code=2)
    assert "'both.npz' has no array 'goldn'; did you mean 'golden'?" in desk.compare("both.npz:goldn", result, code=2)


def test_large_arrays_are_compared_in_little_memory(desk: Desk) -> None:
    """64 MB of arrays, one with its axes swapped in memory; files that are mapped do not count."""
    golden = desk.save("g.npy", np.ones((4 << 10, 2 << 10), np.float32))
    result = desk.save("r.npy", np.ones((2 << 10, 4 << 10), np.float32).T)
    tracemalloc.start()
    desk.compare(golden, result, code=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40e6


# what cannot be compared


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("nope.npy", "cannot read 'nope.npy': no such file; did you mean '"),
        ("no/g.npy", "cannot read 'no/g.npy': there is no folder 'no'"),
        (".", "cannot read '.': Is a directory"),
        ("text.npy", "'text.npy' is no .npy file; save an array with np.save"),
        ("empty.npy", "'empty.npy' is empty; save an array with np.save"),
        ("short.npy", "'short.npy' is truncated: float64[64, 100] has 51200 bytes, 872 are there; save it again"),
        ("header.npy", "cannot read 'header.npy': its header is damaged ("),
        ("cut.npy", "cannot read 'cut.npy': its header is damaged ("),
        ("objects.npy", "'objects.npy' holds pickled Python objects, which are not loaded; save an array of numbers"),
        ("text_array.npy", "'text_array.npy' holds <U1; expected bools, integers or floats: save the parts one by one"),
        ("records.npy", "'records.npy' holds [('a', '<f4'), ('b', '<i4')]; expected bools, integers or floats"),
        ("complex.npy", "'complex.npy' holds complex128; expected bools, integers or floats"),
        ("time.npy", "'time.npy' holds datetime64[s]; expected bools, integers or floats"),
        ("zip.npz", "cannot read 'zip.npz': "),
        ("objects.npz", "cannot read 'objects.npz': Object arrays cannot be loaded when allow_pickle=False"),
        ("other.npy", "the shapes differ: g.npy holds float64[64, 100], other.npy holds float64[100, 64]"),
    ],
)
def test_a_file_that_cannot_be_compared_is_one_message(desk: Desk, file: str, message: str) -> None:
    golden = desk.save("g.npy", REFERENCE)
    whole = (desk.folder / golden).read_bytes()
    contents = {
        "text.npy": b"hello",
        "empty.npy": b"",
        "short.npy": whole[:1000],
        "header.npy": b"\x93NUMPY\x01\x00\x10\x00garbage garbage ",
        "cut.npy": whole[:60],
        "zip.npz": b"PK\x03\x04 and then nothing",
    }
    for name, content in contents.items():
        (desk.folder / name).write_bytes(content)
    desk.save("objects.npy", np.array([{}], object))
    desk.save("text_array.npy", np.array(["a"]))
    desk.save("records.npy", np.zeros(3, [("a", "f4"), ("b", "i4")]))
    desk.save("complex.npy", np.zeros(3, complex))
    desk.save("time.npy", np.zeros(3, "datetime64[s]"))
    desk.save("other.npy", REFERENCE.T.copy())
    np.savez(desk.folder / "objects.npz", np.array([{}], object))
    complaint = desk.compare(golden, file, code=2)
    assert complaint.startswith("ascir: ") and complaint.count("\n") == 1
    assert message in complaint


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--rtol", "-1"], "argument --rtol: a tolerance is a number from 0, got '-1'"),
        (["--atol", "nan"], "argument --atol: a tolerance is a number from 0, got 'nan'"),
        (["--dtype", "float15"], "argument --dtype: there is no 'float15'; did you mean 'float16'?"),
        (["--dtype", "float16"], "--dtype float16 names a tolerance of floats, and the result holds int64, which must be equal"),
    ],
)
def test_a_mistake_in_an_option_is_one_message(desk: Desk, options: list[str], message: str) -> None:
    assert desk.of(np.arange(3), np.arange(3), *options, code=2) == f"ascir: {message}\n"
