// The binding of the simulation of programs.
#pragma once

#include <nanobind/nanobind.h>

namespace forestcoll {

namespace nb = nanobind;

void bind_events(nb::module_ module);
void bind_hops(nb::module_ module);

}  // namespace forestcoll
