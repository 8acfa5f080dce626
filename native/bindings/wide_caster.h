// Converts Python integers to and from __int128 by their decimal digits; this is simple, and rarely used.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <string>

#include "flow/capacity.h"

namespace nanobind::detail {

template <>
struct type_caster<forestcoll::Wide> {
  NB_TYPE_CASTER(forestcoll::Wide, const_name("int"))

  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    if (!PyLong_Check(source.ptr())) return false;
    PyObject* text = PyObject_Str(source.ptr());
    const char* digits = text == nullptr ? nullptr : PyUnicode_AsUTF8AndSize(text, nullptr);
    const bool read = digits != nullptr && parse(digits);
    Py_XDECREF(text);
    PyErr_Clear();
    return read;
  }

  static handle from_cpp(forestcoll::Wide number, rv_policy, cleanup_list*) noexcept {
    std::string digits;
    const bool negative = number < 0;
    do {
      const int digit = static_cast<int>(number % 10);
      digits.push_back(static_cast<char>('0' + (digit < 0 ? -digit : digit)));
      number /= 10;
    } while (number != 0);
    if (negative) digits.push_back('-');
    std::reverse(digits.begin(), digits.end());
    return PyLong_FromString(digits.c_str(), nullptr, 10);
  }

 private:
  bool parse(const char* digits) noexcept {
    const bool negative = *digits == '-';
    forestcoll::Wide number = 0;
    for (digits += negative; *digits != '\0'; ++digits) {
      const forestcoll::Wide digit = negative ? '0' - *digits : *digits - '0';
      if (__builtin_mul_overflow(number, static_cast<forestcoll::Wide>(10), &number)) return false;
      if (__builtin_add_overflow(number, digit, &number)) return false;
    }
    value = number;
    return true;
  }
};

}  // namespace nanobind::detail
