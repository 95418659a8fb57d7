# How lit runs the .mlir tests: each file is fed to ascir-opt, and filecheck compares. Deprecated xDSL calls fail a test, so that an
# upgrade of xDSL never comes as a surprise. What lit writes goes to build/lit, outside the tree that it tests.
import os
import sys

import lit.formats

HERE = os.path.dirname(os.path.abspath(__file__))

config.name = "ascir"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = HERE
config.test_exec_root = os.path.join(HERE, "..", "..", "build", "lit")
config.environment["PYTHONWARNINGS"] = "error::DeprecationWarning"
config.environment["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
for name in ("HOME", "XDG_CACHE_HOME", "CC", "ASCIR_CACHE"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.substitutions += [
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
