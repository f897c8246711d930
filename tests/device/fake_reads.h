// SPDX-License-Identifier: BSD-2-Clause-Patent
// Which memory each launch on the stand-in has read, for `results_differ`. A stream and an event know the launches
// before them, a stream until somebody waits for them. Memory is named by the address at which it begins.
#ifndef ACUITY_TESTS_DEVICE_FAKE_READS_H
#define ACUITY_TESTS_DEVICE_FAKE_READS_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

/// The first `bytes` of the memory are no longer only zeros: something was copied to them.
void note_filled(uintptr_t begin, size_t bytes);
void forget_filled(uintptr_t begin);

/// One launch; memory to which nothing was copied does not count.
void note_read(void* stream, const std::vector<uintptr_t>& begins);
void note_event_recorded(void* event, void* stream);
void note_event_awaited(void* stream, void* event);
void note_synchronized(void* stream);

/// From 1 to 2, if kernels of the stream have read something.
std::optional<float> number_of_read(void* stream);

void reset_reads();

#endif
