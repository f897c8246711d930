// SPDX-License-Identifier: BSD-2-Clause-Patent
#ifndef ACUITY_BASE_PROCESSOR_NAME_H
#define ACUITY_BASE_PROCESSOR_NAME_H

#include <istream>
#include <string>

namespace acuity {

/// From what Linux writes into /proc/cpuinfo. On ARM that has numbers instead of a name; where a processor has cores of
/// several kinds, all are named.
std::string processor_name(std::istream& cpuinfo);

}  // namespace acuity

#endif
