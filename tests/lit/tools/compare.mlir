// Arrays that a kernel left are compared with golden ones: counts, positions, histogram, and 0 or 1 for right or wrong.

// RUN: ascir run %s:same --input %{f32_64} --output %t.npy && ascir compare %{f32_64} %t.npy | filecheck %s --check-prefix=SAME
// RUN: not ascir compare %{f32_64} %{f32_3x5} 2>&1 | filecheck %s --check-prefix=SHAPES
// RUN: ascir run %s:twice --input %{f32_64} --output %t.npy
// RUN: not ascir compare %{f32_64} %t.npy --rtol 0.5 | filecheck %s --check-prefix=TWICE
// RUN: ascir compare %{f32_64} %t.npy --rtol 1 | filecheck %s --check-prefix=LOOSE

func.func @same(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = ascend.neg %x : tensor<?xf32>
  %1 = ascend.neg %0 : tensor<?xf32>
  func.return %1 : tensor<?xf32>
}
func.func @twice(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = ascend.add %x, %x : tensor<?xf32>
  func.return %0 : tensor<?xf32>
}

// SAME: equal       64 of 64 (100 %)
// SAME-NEXT: mismatches  0 of 64 (0 %)
// SAME: verdict     right, by the rule
// SHAPES: ascir: the shapes differ: {{.*}} holds float32[64], {{.*}} holds float32[3, 5]
// TWICE: mismatches  63 of 64 (98.44 %): |result - golden| > 1e-08 + 0.5 × |golden|
// TWICE-NEXT: first       at (1): golden 1, result 2, absolute error 1, relative 1
// TWICE: 1e-1 to 1e0  63
// TWICE: verdict     WRONG, by the tolerance given
// LOOSE: rule        wrong
// LOOSE: verdict     right, by the tolerance given
