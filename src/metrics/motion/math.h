// SPDX-License-Identifier: BSD-2-Clause-Patent
// The blur of motion in whole numbers, in the kernel dialect: include it after the dialect, on the CPU inside its
// namespace. The taps are 3571, 16004, 26386, 16004, 3571 in 65536ths.
//
// A weighted sum T of five values of 17 bits has 34 bits. Only its shifted form is wanted, floor((T + half) / 2^n), and
// for that floor(T / 2) does as well as T, which fits 32 bits: all taps but 3571 are even, so that its product alone
// has to be rounded.

// floor(T / 2), given the values the same taps belong to already added up.
FUNCTION whole half_sum(whole outer, whole inner, whole middle) {
  return SHIFT_RIGHT(outer * whole(3571), 1) + inner * whole(8002) + middle * whole(13193);
}
