// What travels between ranks: a header of 32 bytes, and up to `length` bytes behind it.
//
// Data connections carry frames one way: an `open` frame before the first chunk of an operation, then its chunks.
// Credits travel on the same connection the other way. Control connections carry everything else. Between ranks of one
// host, a frame can say where in the sender's pages or memory the chunk lies, and nothing follows it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace forestcoll::runtime {

enum class FrameKind : std::uint8_t {
  kOpen = 1,    // payload: the Descriptor of the operation
  kData = 2,    // payload: chunk `chunk` of edge `edge`
  kCredit = 3,  // `value` chunks of edge `edge` were taken out of the staging memory
  kAbort = 4,   // payload: text; `value`: the rank at fault
  kBye = 5,     // the sender closes the group in good order
  kPing = 6,    // asks for a pong
  kPong = 7,    // `value`: how many operations the sender has posted; `operation`: its oldest running one
  kShared = 8,  // chunk `chunk` of edge `edge` lies at `value` in the sender's pages, `length` bytes
  kLies = 9,    // the same in the memory of the sender's process; it waits for the credit
};

constexpr std::uint64_t kNoOperation = ~std::uint64_t{0};

// All ranks run on machines of one byte order; the handshake checks it.
struct FrameHeader {
  FrameKind kind{};
  std::uint8_t zero[3]{};
  std::uint32_t length = 0;
  std::uint64_t operation = 0;  // the number of the operation, from 0
  std::uint32_t edge = 0;       // of the plan: names the flow, the phase, the sender and the receiver
  std::uint32_t chunk = 0;
  std::uint64_t value = 0;
};
static_assert(sizeof(FrameHeader) == 32);

// Says what an operation is. Two ranks run the same operation when the digests are equal; the label is for messages.
struct Descriptor {
  std::array<std::uint8_t, 32> digest{};
  std::array<char, 96> label{};  // ends with a zero

  std::string_view text() const { return {label.data(), strnlen(label.data(), label.size())}; }
};
static_assert(sizeof(Descriptor) == 128);

inline Descriptor make_descriptor(std::string_view digest, std::string_view label) {
  Descriptor made;
  std::memcpy(made.digest.data(), digest.data(), std::min(digest.size(), made.digest.size()));
  std::memcpy(made.label.data(), label.data(), std::min(label.size(), made.label.size() - 1));
  return made;
}

// Text of another rank, for messages: bytes that are no plain text are replaced.
inline std::string printable(std::string_view text) {
  std::string result(text);
  for (char& each : result) {
    if (each < ' ' || each > '~') each = '?';
  }
  return result;
}

constexpr std::uint32_t kMostText = 512;  // bytes of an abort frame's text

}  // namespace forestcoll::runtime
