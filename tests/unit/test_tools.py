"""ascir-opt: where errors point, what damaged input does, and that it starts light."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import (
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    ModuleOp,
    NameLoc,
    NoneAttr,
    StringAttr,
    UnknownLoc,
)
from xdsl.utils.exceptions import PassFailedException

from ascir.diagnostics import (
    AscirError,
    ParsingError,
    UsageError,
    VerifyingError,
    blame,
    file_position,
    location_text,
    parse_module,
    verify_module,
)
from ascir.tools.ascir_opt import main
from ascir.tools.specs import make, parse_specs, tidy
from ascir.universe import ASCIR_UNIVERSE, PLAIN_PASSES

EXP = """\
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = ascend.exp %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}
"""

KERNEL = """\
func.func @f(%g: memref<16xf16, #ascend_memory.space<gm>>, %n: index) {
  %u = ascend_memory.alloc "u" : memref<16xf16, #ascend_memory.space<ub>>
  %zero = arith.constant 0 : index
  scf.for %i = %zero to %n step %n {
    ascend_memory.copy %g to %u : memref<16xf16, #ascend_memory.space<gm>> to memref<16xf16, #ascend_memory.space<ub>>
  }
  func.return
}
"""

PLACE = FileLineColLoc(StringAttr("/somewhere/gelu.py"), IntAttr(12), IntAttr(5))


def _ops(module: ModuleOp) -> dict[str, tuple[int, int]]:
    """Op name → (line, column)."""
    places = {op.name: file_position(op.location) for op in module.walk()}
    return {name: (place.line.data, place.column.data) for name, place in places.items() if place}


# Locations


def test_every_op_knows_the_place_of_its_name() -> None:
    module = parse_module(EXP, "exp.mlir")
    assert _ops(module) == {"builtin.module": (1, 1), "func.func": (1, 1), "ascend.exp": (2, 8), "func.return": (3, 3)}


def test_nested_ops_and_generic_syntax_are_located_too() -> None:
    text = 'scf.execute_region {\n  %x = "arith.constant"() <{value = 1 : i32}> : () -> i32\n  scf.yield\n}\n'
    places = _ops(parse_module(text, "k.mlir"))
    assert places["arith.constant"] == (2, 8)
    assert places["scf.execute_region"] == (1, 1)


def test_an_explicit_location_is_kept() -> None:
    text = EXP.replace("tensor<4xf32>\n  func", 'tensor<4xf32> loc("gelu.py":7:1)\n  func')
    (exp,) = [op for op in parse_module(text).walk() if op.name == "ascend.exp"]
    assert location_text(exp.location) == "gelu.py:7"


def test_printing_shows_no_location_unless_asked(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "exp.mlir"
    file.write_text(EXP)
    assert main([str(file)]) == 0
    assert "loc(" not in capsys.readouterr().out
    assert main([str(file), "--print-debuginfo"]) == 0
    printed = capsys.readouterr().out
    assert f'loc("{file}":2:8)' in printed
    copy = tmp_path / "copy.mlir"
    copy.write_text(printed)
    assert main([str(copy), "--print-debuginfo"]) == 0
    assert capsys.readouterr().out == printed


@pytest.mark.parametrize(
    ("location", "text"),
    [
        (PLACE, "gelu.py:12"),
        (NameLoc(StringAttr("x"), PLACE), "gelu.py:12"),
        (FusedLoc((UnknownLoc(), PLACE), NoneAttr()), "gelu.py:12"),
        (CallSiteLoc(PLACE, UnknownLoc()), "gelu.py:12"),
        (CallSiteLoc(UnknownLoc(), PLACE), "gelu.py:12"),
        (UnknownLoc(), ""),
    ],
)
def test_location_text(location: FileLineColLoc | NameLoc | FusedLoc | CallSiteLoc | UnknownLoc, text: str) -> None:
    assert location_text(location) == text


# Messages


def test_an_error_shows_line_and_caret_of_a_readable_file(tmp_path: Path) -> None:
    file = tmp_path / "gelu.py"
    file.write_text("def gelu(x):\n\treturn np.sort(x)\n")
    place = FileLineColLoc(StringAttr(str(file)), IntAttr(2), IntAttr(9))
    error = AscirError("np.sort cannot be traced", place, expected="an element-wise function", hint="sort on the host", width=7)
    assert str(error) == (
        f"{file}:2:9: error: np.sort cannot be traced; expected an element-wise function\n"
        "\treturn np.sort(x)\n"
        "\t       ^^^^^^^\n"
        "hint: sort on the host"
    )


def test_an_error_in_an_unreadable_file_is_still_one_message() -> None:
    assert str(AscirError("no", PLACE)) == "/somewhere/gelu.py:12:5: error: no"
    assert str(AscirError("no")) == "no"


def test_an_edited_file_shows_its_new_line(tmp_path: Path) -> None:
    file = tmp_path / "k.mlir"
    for text in (EXP, EXP.replace("@f", "@other")):
        file.write_text(text)
        place = FileLineColLoc(StringAttr(str(file)), IntAttr(1), IntAttr(1))
        assert text.splitlines()[0] in str(AscirError("look", place))


def test_a_very_long_line_is_cut_around_the_caret() -> None:
    with pytest.raises(ParsingError) as caught:
        parse_module("func.func @f() {" + " " * 5000 + "123 }" + " " * 5000, "long.mlir")
    shown, caret = str(caught.value).splitlines()[1:3]
    assert len(shown) <= 160
    assert shown[caret.index("^") :].startswith("123")


def test_a_verifier_names_op_line_and_what_is_wrong() -> None:
    text = KERNEL.replace("copy %g to %u", "copy %g to %g").replace("space<ub>>\n  }", "space<gm>>\n  }")
    with pytest.raises(VerifyingError) as caught:
        verify_module(parse_module(text, "k.mlir"))
    first, source, caret = str(caught.value).splitlines()
    assert first.startswith("k.mlir:5:5: error: ascend_memory.copy: illegal path gm → gm")
    assert source == text.splitlines()[4]
    assert caret == "    ^"


def test_an_attribute_that_refuses_its_value_is_located() -> None:
    with pytest.raises(VerifyingError, match=r"k\.mlir:2:30: error: Integer value 256 is out of range"):
        parse_module("func.func @f() {\n  %x = arith.constant 256 : i8\n  func.return\n}\n", "k.mlir")


def test_a_pass_that_refuses_an_op_is_located() -> None:
    (exp,) = [op for op in parse_module(EXP, "exp.mlir").walk() if op.name == "ascend.exp"]
    with pytest.raises(VerifyingError, match=r"exp\.mlir:2:8: error: ascend\.exp: not today"), blame("pass 'x'"):
        exp.emit_error("no", PassFailedException("not today"))


def test_further_lines_of_a_message_follow_the_caret() -> None:
    (exp,) = [op for op in parse_module(EXP, "exp.mlir").walk() if op.name == "ascend.exp"]
    with pytest.raises(VerifyingError) as caught, blame("pass 'x'"):
        exp.emit_error("no", PassFailedException("ascend.exp: first reason\nascend.exp: second reason"))
    assert str(caught.value) == (
        "exp.mlir:2:8: error: ascend.exp: first reason\n"
        "  %y = ascend.exp %x : tensor<4xf32>\n"
        "       ^\n"
        "ascend.exp: second reason"
    )


def test_a_bug_in_a_pass_is_called_one() -> None:
    with pytest.raises(AscirError, match=r"internal error in pass 'x': KeyError: 'y'"), blame("pass 'x'"):
        raise KeyError("y")


# Damaged input


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "d.mlir:1:1: error: the file is empty; expected an operation"),
        (b"// nothing\n", "d.mlir:1:11: error: expected an operation, but the file ends here"),
        (b"\xff\xfef\x00", "d.mlir:1:1: error: byte 0xff is not UTF-8"),
        ("// é\n// ".encode() + b"\xe9\n", "d.mlir:2:4: error: byte 0xe9 is not UTF-8"),
        (b"func.func @f() {\n  func.return\n", "d.mlir:2:14: error: expected an operation or '}', but the file ends here"),
        (b"func.func @f() { 12 }", "d.mlir:1:18: error: expected an operation or '}', found '12'"),
        (b'"test.op"() ({\n^0:\n}) : () -> ()', "d.mlir:2:2: error: Invalid Block name format `0`"),
        (b"func.func @f() {\n  ascend.epx\n}", "d.mlir:2:3: error: operation ascend.epx is not registered; did you mean 'ascend.e"),
        (b"ascent.exp", "there is no dialect 'ascent', did you mean 'ascend'?"),
        (b"builtin.module {" * 5000, "nested too deeply"),
        (b'"test.op"() {a = ' + b"[" * 5000, "nested too deeply"),
        (b"func.func @f(%x: tensor<" + b"9" * 5000 + b"xf32>)", "Exceeds the limit"),
        (b'"test.op"() {a = "' + b"x" * 5000, "End of file reached before closing string literal"),
        (b'"' + b"x" * 5000 + b"\n", "d.mlir:1:1: error: End of file reached before closing string literal"),
        (b"\x00\x01", "d.mlir:1:1: error: Unexpected character: \N{REPLACEMENT CHARACTER}"),
    ],
)
def test_damaged_input_gives_one_located_message(text: bytes, message: str) -> None:
    with pytest.raises(ParsingError) as caught:
        parse_module(text, "d.mlir")
    assert message in str(caught.value)
    assert file_position(caught.value.location)


def test_a_byte_order_mark_is_harmless() -> None:
    assert parse_module(EXP.encode("utf-8-sig")).is_structurally_equivalent(parse_module(EXP))


@pytest.mark.parametrize("end", range(KERNEL.index("{") + 1, len(KERNEL) - 2, 3))
def test_a_truncated_kernel_is_refused_at_its_end(end: int) -> None:
    with pytest.raises(AscirError) as caught:
        parse_module(KERNEL[:end], "cut.mlir")
    place = file_position(caught.value.location)
    assert place and place.line.data <= KERNEL[:end].count("\n") + 1


@given(st.integers(0, len(KERNEL) - 1), st.binary(max_size=3), st.integers(0, 20))
def test_a_damaged_kernel_never_escapes_as_another_exception(start: int, put: bytes, removed: int) -> None:
    text = KERNEL.encode()
    try:
        verify_module(parse_module(text[:start] + put + text[start + removed :], "bad.mlir"))
    except AscirError as error:
        assert file_position(error.location), error


# The command line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-p", "fuse-oprators"], "unknown pass 'fuse-oprators'; did you mean 'fuse-operators'?"),
        (["-p", "canonicalize{depth=1}"], "pass 'canonicalize' takes no options, got 'depth'"),
        (["-p", "scf-for-loop-specialize{vals=1}"], "unknown pass 'scf-for-loop-specialize'; did you mean"),
        (["-p", "a,,b"], "cannot read -p 'a,,b': Expected pass name here (column 3)"),
        (["-p", "a b"], "cannot read -p 'a b': Expected a comma or pass arguments here (column 2)"),
        (["-t", "cc"], "unknown target 'cc'; did you mean 'c'?"),
        (["-t", "c,mlir"], "-t takes one name, got 'c,mlir'"),
        (["-t", "mlir{print-debug=true}"], "target 'mlir' has no option 'print-debug'; did you mean 'print-debuginfo'?"),
        (["-t", "mlir{print-debuginfo=7}"], "option 'print-debuginfo' of target 'mlir' takes bool, got '7'"),
        (["--time-pases"], "unknown option '--time-pases'; did you mean '--time-passes'?"),
        (["-O2", "-p", "cse"], "argument -p/--passes: not allowed with argument -O"),
        (["-O9"], "argument -O: there is no '9'; did you mean"),
        (["-o", "/no/such/folder/x"], "cannot write '/no/such/folder/x': No such file or directory"),
    ],
)
def test_a_mistake_on_the_command_line_is_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "exp.mlir"
    file.write_text(EXP)
    assert main([str(file), *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(f"ascir-opt: {message}")
    assert captured.err.count("\n") == 1


def test_a_missing_file_is_answered_with_the_nearest(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "gelu.mlir").write_text(EXP)
    assert main([str(tmp_path / "gelo.mlir")]) == 2
    assert "no such file; did you mean 'gelu.mlir'?" in capsys.readouterr().err
    assert main([str(tmp_path)]) == 2
    assert "Is a directory" in capsys.readouterr().err
    assert main([str(tmp_path / "no" / "gelu.mlir")]) == 2
    assert "there is no folder" in capsys.readouterr().err


def test_the_debug_variable_lets_the_traceback_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASCIR_DEBUG", "1")
    with pytest.raises(UsageError):
        main(["-p", "fuse-oprators"])


def test_a_use_before_its_definition_is_refused_on_the_way_in(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "order.mlir"
    file.write_text("%y = arith.addi %x, %x : index\n%x = arith.constant 1 : index\n")
    assert main([str(file)]) == 1
    assert f"{file}:1:6: error: verify-dominance: arith.addi" in capsys.readouterr().err
    assert main([str(file), "--disable-verify"]) == 0


def test_a_failed_run_leaves_the_output_file_alone(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source, output = tmp_path / "exp.mlir", tmp_path / "out.mlir"
    output.write_text("precious")
    source.write_text(EXP[:60])
    assert main([str(source), "-o", str(output)]) == 1
    assert output.read_text() == "precious"
    source.write_text(EXP)
    assert main([str(source), "-o", str(output)]) == 0
    assert "ascend.exp" in output.read_text()
    assert capsys.readouterr().out == ""


def test_spaces_in_a_pipeline_do_not_matter() -> None:
    spaced = ' a , b{ x = 1 , 2  y="p , q" } ,\n c '
    assert tidy(spaced) == 'a,b{x=1,2  y="p , q"},c'
    assert parse_specs("-p", spaced) == parse_specs("-p", 'a,b{x=1,2 y="p , q"},c')


def test_our_passes_answer_to_both_names() -> None:
    for plain, factory in PLAIN_PASSES.items():
        (spec,) = parse_specs("-p", plain)
        assert make("pass", spec, PLAIN_PASSES).name == plain
        prefixed = ASCIR_UNIVERSE.all_passes[f"ascend-{plain}"]()
        assert prefixed.name == f"ascend-{plain}"
        assert issubclass(prefixed, factory())


def test_the_driver_starts_without_numpy() -> None:
    program = (
        "import sys\n"
        "from ascir.tools.ascir_opt import main\n"
        "code = main(['-p', 'canonicalize', '-t', 'c'])\n"
        "heavy = {'numpy', 'ml_dtypes', 'importlib.metadata', 'hypothesis'} & sys.modules.keys()\n"
        "sys.exit(f'imports {heavy}' if heavy else code)\n"
    )
    text = "builtin.module {}"
    result = subprocess.run([sys.executable, "-c", program], input=text, text=True, capture_output=True)
    assert result.returncode == 0, result.stderr
