# How lit runs the .mlir tests: each file is fed to ascir-opt, and filecheck compares. Deprecated xDSL calls fail a test, so that an
# upgrade of xDSL never comes as a surprise. What lit writes goes to build/lit, outside the tree that it tests. Kernels that run take
# their inputs from there: %{f32_64} is a .npy file with the numbers 0 to 63.
import os
import sys
import tempfile

import lit.formats
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))

config.name = "ascir"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = HERE
config.test_exec_root = os.path.join(HERE, "..", "..", "build", "lit")
config.environment["PYTHONWARNINGS"] = "error::DeprecationWarning"
config.environment["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
for name in ("HOME", "XDG_CACHE_HOME", "CC", "ASCIR_CACHE", "PYTHONPATH"):
    if name in os.environ:
        config.environment[name] = os.environ[name]


def input_file(name, values):
    """A .npy file that is there whole, whoever else runs lit at this moment."""
    folder = os.path.join(config.test_exec_root, "inputs")
    os.makedirs(folder, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, suffix=".tmp", delete=False) as file:
        np.save(file, values)
    os.replace(file.name, path := os.path.join(folder, f"{name}.npy"))
    return "%{" + name + "}", path


config.substitutions += [
    input_file("f32_64", np.arange(64, dtype=np.float32)),
    input_file("f32_3x5", np.arange(15, dtype=np.float32).reshape(3, 5)),
    # Longest name first: lit applies substitutions in order, textually.
    (
        "ASCIR_GENERIC_ROUNDTRIP",
        "ascir-opt %s --print-op-generic --split-input-file | filecheck %s --check-prefix=GENERIC",
    ),
    (
        "ASCIR_ROUNDTRIP",
        "ascir-opt %s --print-op-generic --split-input-file | ascir-opt --split-input-file | filecheck %s",
    ),
    ("ASCIR_VERIFY_DIAG", "ascir-opt %s --verify-diagnostics --split-input-file | filecheck %s"),
    ("ASCIR_PARSE_DIAG", "ascir-opt %s --parsing-diagnostics --split-input-file | filecheck %s"),
]
