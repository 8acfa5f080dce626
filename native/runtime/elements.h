// Element types and reductions, by the numbers that the Python side uses too.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <type_traits>

namespace forestcoll::runtime {

enum class ElementType : std::uint8_t { kF16, kBf16, kF32, kF64, kI8, kI16, kI32, kI64, kU8 };

enum class Reduction : std::uint8_t { kSum, kAvg, kMin, kMax, kProd, kPremulSum };

struct Half {
  std::uint16_t bits;
};
struct BrainFloat {
  std::uint16_t bits;
};

inline std::size_t size_of(ElementType type) {
  switch (type) {
    case ElementType::kI8:
    case ElementType::kU8:
      return 1;
    case ElementType::kF16:
    case ElementType::kBf16:
    case ElementType::kI16:
      return 2;
    case ElementType::kF32:
    case ElementType::kI32:
      return 4;
    case ElementType::kF64:
    case ElementType::kI64:
      return 8;
  }
  throw std::invalid_argument("there is no such element type");
}

inline const char* name_of(ElementType type) {
  static constexpr const char* kNames[] = {"f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8"};
  return kNames[static_cast<std::size_t>(type)];
}

// The type that values are added up in, and the conversions to it and back. Floats of 16 bits are added up in 32 bits.
template <class T>
struct Arithmetic {
  using Wide = T;
  static Wide widen(T value) { return value; }
  static T narrow(Wide value) { return value; }
};

template <>
struct Arithmetic<BrainFloat> {
  using Wide = float;
  static float widen(BrainFloat value) { return std::bit_cast<float>(std::uint32_t{value.bits} << 16); }
  // Rounds to the nearest, ties to even.
  static BrainFloat narrow(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const bool is_nan = (bits & 0x7fffffffU) > 0x7f800000U;
    const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
    return {static_cast<std::uint16_t>(is_nan ? (bits >> 16) | 0x40U : rounded)};
  }
};

template <>
struct Arithmetic<Half> {
  using Wide = float;
  static float widen(Half value) {
    constexpr std::uint32_t kExponent = 0x7c00U << 13;
    const std::uint32_t shifted = (value.bits & 0x7fffU) << 13;
    const std::uint32_t exponent = shifted & kExponent;
    std::uint32_t bits = shifted + ((127U - 15U) << 23);
    if (exponent == kExponent) bits += (128U - 16U) << 23;  // infinity and not-a-number
    if (exponent == 0) {                                    // zero and subnormal numbers
      const float magic = std::bit_cast<float>(113U << 23);
      bits = std::bit_cast<std::uint32_t>(std::bit_cast<float>(bits + (1U << 23)) - magic);
    }
    return std::bit_cast<float>(bits | (std::uint32_t{value.bits} & 0x8000U) << 16);
  }
  // Rounds to the nearest, ties to even; too large values become infinity.
  static Half narrow(float value) {
    const auto all = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = all & 0x80000000U;
    std::uint32_t bits = all ^ sign;
    if (bits >= (127U + 16U) << 23) {
      bits = bits > 0x7f800000U ? 0x7e00U : 0x7c00U;
    } else if (bits < 113U << 23) {  // the addition rounds to the step of subnormal numbers
      constexpr std::uint32_t kMagic = ((127U - 15U) + (23U - 10U) + 1U) << 23;
      bits = std::bit_cast<std::uint32_t>(std::bit_cast<float>(bits) + std::bit_cast<float>(kMagic)) - kMagic;
    } else {
      bits = (bits - ((127U - 15U) << 23) + 0xfffU + ((bits >> 13) & 1U)) >> 13;
    }
    return {static_cast<std::uint16_t>(bits | sign >> 16)};
  }
};

// Integers wrap around, as NumPy's do; unsigned arithmetic is what C++ defines that for.
template <class T>
using Modular = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;

template <class T>
T add(T one, T other) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<Modular<T>>(one) + static_cast<Modular<T>>(other));
  } else {
    return one + other;
  }
}

template <class T>
T multiply(T one, T other) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<Modular<T>>(one) * static_cast<Modular<T>>(other));
  } else {
    return one * other;
  }
}

// Not-a-number wins, as in NumPy's minimum and maximum.
template <class T>
T least(T one, T other) {
  return one < other || one != one ? one : other;
}

template <class T>
T greatest(T one, T other) {
  return one > other || one != one ? one : other;
}

}  // namespace forestcoll::runtime
