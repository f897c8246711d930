// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/fake_errors.h"

#include <algorithm>
#include <iterator>

namespace {

constexpr FakeError kErrors[] = {
    {1, "CUDA_ERROR_INVALID_VALUE", "hipErrorInvalidValue", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "hipErrorOutOfMemory", "out of memory"},
    {100, "CUDA_ERROR_NO_DEVICE", "hipErrorNoDevice", "no device is detected"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "hipErrorNoBinaryForGpu", "no kernel image is available"},
    {401, "CUDA_ERROR_ILLEGAL_STATE", "hipErrorIllegalState", "the operation cannot be performed in the present state"},
    {500, "CUDA_ERROR_NOT_FOUND", "hipErrorNotFound", "named symbol not found"},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "hipErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "hipErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "hipErrorStreamCaptureUnjoined", "capturing stream has unjoined work"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "hipErrorIllegalAddress", "an illegal memory access was encountered"},
};
constexpr FakeError kStrange = {-1, nullptr, "hipErrorUnknown", "unknown error"};

}  // namespace

const FakeError& find_error(int code) {
  const auto* found =
      std::find_if(std::begin(kErrors), std::end(kErrors), [&](auto& error) { return error.code == code; });
  return found != std::end(kErrors) ? *found : kStrange;
}
