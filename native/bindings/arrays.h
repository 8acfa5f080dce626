// Arrays of numbers between NumPy and the core.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace forestcoll {

namespace nb = nanobind;

template <class Value>
using InputArray = nb::ndarray<const Value, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class Value>
std::vector<Value> to_vector(const InputArray<Value>& array) {
  return {array.data(), array.data() + array.size()};
}

// Moves the memory of a vector to NumPy.
template <class Value>
nb::ndarray<nb::numpy, Value, nb::ndim<1>> to_numpy(std::vector<Value> values) {
  auto owned = std::make_unique<std::vector<Value>>(std::move(values));
  nb::capsule owner(owned.get(), [](void* pointer) noexcept { delete static_cast<std::vector<Value>*>(pointer); });
  auto* held = owned.release();
  return {held->data(), {held->size()}, owner};
}

// Moves an array to NumPy.
template <class Value>
nb::ndarray<nb::numpy, Value, nb::ndim<1>> to_numpy(std::unique_ptr<Value[]> values, std::size_t size) {
  nb::capsule owner(values.get(), [](void* pointer) noexcept { delete[] static_cast<Value*>(pointer); });
  return {values.release(), {size}, owner};
}

}  // namespace forestcoll
