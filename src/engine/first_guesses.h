// SPDX-License-Identifier: BSD-2-Clause-Patent
// What is expected of a device of which nothing was measured yet; MetricEntry::cpu_ns is the same for the CPU. Results
// that depend on these say "guessed".
#ifndef ACUITY_ENGINE_FIRST_GUESSES_H
#define ACUITY_ENGINE_FIRST_GUESSES_H

namespace acuity::guesses {

// A driver loads and opens a device in 200 to 500 ms. The rest is a middling GPU's.
inline constexpr double kColdMs = 400;
inline constexpr double kGpuRowNs = 0.5e6;
inline constexpr double kGpuPixelNs = 0.5;  // per metric
// In strips, margins are computed twice; a reference takes about half of a pair.
inline constexpr double kStripFactor = 1.25;
inline constexpr double kPrepareFactor = 0.5;
// A pixel of a JPEG file takes a thread 5 ns, one of a compressed PNG 15.
inline constexpr double kDecodeNs = 10;

}  // namespace acuity::guesses

#endif
