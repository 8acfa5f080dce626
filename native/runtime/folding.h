// Combines several vectors into one, always in the order in which they are given: the same bits in each run.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "runtime/elements.h"

namespace forestcoll::runtime {

struct Fold {
  ElementType type{};
  Reduction reduction{};
  std::span<const std::byte* const> sources;  // one or more; the result may be one of them
  bool has_own = false;                       // whether the first source is the rank's own data
  double factor = 1;                          // of the rank's own data, where the reduction is kPremulSum
  std::int64_t divisor = 0;                   // of the sum, where it is complete and the reduction is kAvg; else 0
  std::byte* result = nullptr;
  std::size_t count = 0;  // elements
};

namespace folding {

constexpr std::size_t kBlock = 512;  // elements, whose wide values stay in the nearest cache

template <class T, class Combine>
void combine(const Fold& fold, Combine with) {
  using Wide = typename Arithmetic<T>::Wide;
  std::array<Wide, kBlock> sums;
  for (std::size_t begin = 0; begin < fold.count; begin += kBlock) {
    const std::size_t count = std::min(kBlock, fold.count - begin);
    const T* first = reinterpret_cast<const T*>(fold.sources[0]) + begin;
    for (std::size_t i = 0; i < count; ++i) sums[i] = Arithmetic<T>::widen(first[i]);
    if (fold.reduction == Reduction::kPremulSum && fold.has_own) {
      const Wide factor = static_cast<Wide>(fold.factor);
      for (std::size_t i = 0; i < count; ++i) sums[i] = multiply(sums[i], factor);
    }
    for (const std::byte* source : fold.sources.subspan(1)) {
      const T* next = reinterpret_cast<const T*>(source) + begin;
      for (std::size_t i = 0; i < count; ++i) sums[i] = with(sums[i], Arithmetic<T>::widen(next[i]));
    }
    if (fold.divisor != 0) {
      const Wide divisor = static_cast<Wide>(fold.divisor);
      for (std::size_t i = 0; i < count; ++i) sums[i] = static_cast<Wide>(sums[i] / divisor);
    }
    T* result = reinterpret_cast<T*>(fold.result) + begin;
    for (std::size_t i = 0; i < count; ++i) result[i] = Arithmetic<T>::narrow(sums[i]);
  }
}

template <class T>
void by_reduction(const Fold& fold) {
  using Wide = typename Arithmetic<T>::Wide;
  switch (fold.reduction) {
    case Reduction::kSum:
    case Reduction::kAvg:
    case Reduction::kPremulSum:
      return combine<T>(fold, [](Wide one, Wide other) { return add(one, other); });
    case Reduction::kMin:
      return combine<T>(fold, [](Wide one, Wide other) { return least(one, other); });
    case Reduction::kMax:
      return combine<T>(fold, [](Wide one, Wide other) { return greatest(one, other); });
    case Reduction::kProd:
      return combine<T>(fold, [](Wide one, Wide other) { return multiply(one, other); });
  }
}

}  // namespace folding

inline void run(const Fold& fold) {
  switch (fold.type) {
    case ElementType::kF16:
      return folding::by_reduction<Half>(fold);
    case ElementType::kBf16:
      return folding::by_reduction<BrainFloat>(fold);
    case ElementType::kF32:
      return folding::by_reduction<float>(fold);
    case ElementType::kF64:
      return folding::by_reduction<double>(fold);
    case ElementType::kI8:
      return folding::by_reduction<std::int8_t>(fold);
    case ElementType::kI16:
      return folding::by_reduction<std::int16_t>(fold);
    case ElementType::kI32:
      return folding::by_reduction<std::int32_t>(fold);
    case ElementType::kI64:
      return folding::by_reduction<std::int64_t>(fold);
    case ElementType::kU8:
      return folding::by_reduction<std::uint8_t>(fold);
  }
}

}  // namespace forestcoll::runtime
