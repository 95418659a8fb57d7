// A mistake on the command line: exit code 2, one line, the nearest name.

// RUN: not ascir-opt %s -p "canonicalize, plan-memry" 2>&1 | filecheck %s --check-prefix=PASS
// PASS: ascir-opt: unknown pass 'plan-memry'; did you mean 'plan-memory'?

// RUN: not ascir-opt %s -p "tile-to-kernel{blockdim=8}" 2>&1 | filecheck %s --check-prefix=OPTION
// OPTION: ascir-opt: pass 'tile-to-kernel' has no option 'blockdim'; did you mean 'block-dim'?

// RUN: not ascir-opt %s -t cpp 2>&1 | filecheck %s --check-prefix=TARGET
// TARGET: ascir-opt: unknown target 'cpp'; did you mean

// RUN: not ascir-opt %S/mistake.mlir 2>&1 | filecheck %s --check-prefix=FILE
// FILE: no such file; did you mean 'mistakes.mlir'?

builtin.module {}
