// Memory for chunks that wait to be added up or passed on. It is kept for the next operation, up to a bound: new pages
// cost more than the copy into them.
#pragma once

#include <bit>
#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace forestcoll::runtime {

class StagingPool {
 public:
  explicit StagingPool(std::size_t most_kept) : most_kept_(most_kept) {}

  class Buffer {
   public:
    Buffer() = default;
    Buffer(StagingPool* pool, std::size_t size, std::unique_ptr<std::byte[]> bytes)
        : pool_(pool), size_(size), bytes_(std::move(bytes)) {}
    Buffer(Buffer&&) = default;
    Buffer& operator=(Buffer&& other) noexcept {
      release();
      pool_ = other.pool_;
      size_ = other.size_;
      bytes_ = std::move(other.bytes_);
      return *this;
    }
    ~Buffer() { release(); }

    std::byte* data() const { return bytes_.get(); }
    void release() {
      if (bytes_) pool_->give_back(size_, std::move(bytes_));
    }

   private:
    StagingPool* pool_ = nullptr;
    std::size_t size_ = 0;
    std::unique_ptr<std::byte[]> bytes_;
  };

  Buffer take(std::size_t bytes) {
    const std::size_t size = std::bit_ceil(bytes < 64 ? std::size_t{64} : bytes);
    auto& kept = kept_[size];
    if (kept.empty()) return {this, size, std::make_unique_for_overwrite<std::byte[]>(size)};
    auto found = std::move(kept.back());
    kept.pop_back();
    kept_bytes_ -= size;
    return {this, size, std::move(found)};
  }

 private:
  void give_back(std::size_t size, std::unique_ptr<std::byte[]> bytes) {
    if (kept_bytes_ + size > most_kept_) return;
    kept_[size].push_back(std::move(bytes));
    kept_bytes_ += size;
  }

  std::size_t most_kept_, kept_bytes_ = 0;
  std::map<std::size_t, std::vector<std::unique_ptr<std::byte[]>>> kept_;  // by size
};

}  // namespace forestcoll::runtime
