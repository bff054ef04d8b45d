// Memory for buffers: taken from the system, or from what buffers before have given back.
//
// The first touch of new memory costs more than what most kernels do with it, and threads that touch new memory at the
// same time wait for each other in the system. A stage takes blocks of the same few sizes again and again, one batch
// after another. So blocks of MIDDLE … LARGEST bytes are rounded up to one of four sizes per power of two, and those
// that are freed are kept for the next of that size, up to `limit` bytes in all; `release` gives them back.
//
// Every block begins with a header that says how large it is, so that whoever frees it needs the address alone.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace roughly::memory {

inline constexpr std::size_t HEADER = 64;  // a block begins at a cache line
inline constexpr std::size_t MIDDLE = std::size_t{1} << 17, LARGEST = std::size_t{1} << 26;
inline constexpr std::size_t STEPS = 4;  // sizes per power of two

struct Header {
    std::size_t capacity;  // bytes behind the header
    bool is_kept;          // whether it may be kept when it is freed
};

// Large memory in pages of 2 MB where the system has them, as numpy asks for its arrays.
inline void ask_for_huge_pages([[maybe_unused]] void* block, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    constexpr std::size_t LARGE = std::size_t{1} << 22, PAGE = 4096;
    if (bytes < LARGE) return;
    const std::size_t ahead = (PAGE - reinterpret_cast<std::uintptr_t>(block) % PAGE) % PAGE;
    madvise(static_cast<char*>(block) + ahead, bytes - ahead, MADV_HUGEPAGE);  // no matter if it is refused
#endif
}

class FreeBlocks {
public:
    // A kept block of exactly this size, or nullptr.
    Header* take(std::size_t capacity) {
        const std::lock_guard guard(mutex_);
        auto& blocks = blocks_[place_of(capacity)];
        if (blocks.empty()) return nullptr;
        Header* block = blocks.back();
        blocks.pop_back();
        kept_ -= capacity;
        return block;
    }

    // Whether the block is kept; otherwise the caller frees it.
    bool give(Header* block) noexcept {
        const std::lock_guard guard(mutex_);
        if (kept_ + block->capacity > limit_) return false;
        try {
            blocks_[place_of(block->capacity)].push_back(block);
        } catch (const std::bad_alloc&) {
            return false;
        }
        kept_ += block->capacity;
        return true;
    }

    // Keeps at most this many bytes from now on; if there are more, all are freed.
    void keep(std::size_t limit) noexcept {
        const std::lock_guard guard(mutex_);
        limit_ = limit;
        if (kept_ > limit_) free_all();
    }

    void release() noexcept {
        const std::lock_guard guard(mutex_);
        free_all();
    }
    std::size_t kept() {
        const std::lock_guard guard(mutex_);
        return kept_;
    }

    // The size of block that serves this many bytes, MIDDLE … LARGEST.
    static std::size_t rounded(std::size_t bytes) {
        const std::size_t step = std::bit_floor(bytes) / STEPS;
        return (bytes + step - 1) / step * step;
    }

private:
    void free_all() noexcept {
        for (auto& blocks : blocks_) {
            for (Header* block : blocks) std::free(block);
            blocks.clear();
        }
        kept_ = 0;
    }

    static std::size_t place_of(std::size_t capacity) {
        const std::size_t power = static_cast<std::size_t>(std::bit_width(capacity) - 1);
        return (power - FIRST_POWER) * STEPS + (capacity >> (power - 2)) % STEPS;
    }

    static constexpr std::size_t FIRST_POWER = static_cast<std::size_t>(std::bit_width(MIDDLE) - 1);
    static constexpr std::size_t POWERS = static_cast<std::size_t>(std::bit_width(LARGEST)) - FIRST_POWER + 1;

    std::mutex mutex_;
    std::array<std::vector<Header*>, POWERS * STEPS> blocks_;
    std::size_t kept_ = 0, limit_ = 0;
};

// Never destroyed: arrays may be freed while the process ends.
inline FreeBlocks& free_blocks() {
    static FreeBlocks& blocks = *new FreeBlocks;
    return blocks;
}

inline Header* header_of(void* data) { return reinterpret_cast<Header*>(static_cast<char*>(data) - HEADER); }
inline void* data_of(Header* block) { return reinterpret_cast<char*>(block) + HEADER; }
inline std::size_t capacity_of(void* data) { return data == nullptr ? 0 : header_of(data)->capacity; }

inline void* take(std::size_t bytes) {
    const bool is_kept = bytes >= MIDDLE && bytes <= LARGEST;
    const std::size_t capacity = is_kept ? FreeBlocks::rounded(bytes) : std::max<std::size_t>(bytes, 1);
    if (is_kept) {
        if (Header* kept = free_blocks().take(capacity)) return data_of(kept);
    }
    if (capacity > std::numeric_limits<std::ptrdiff_t>::max() - HEADER) throw std::bad_alloc();
    auto* block = static_cast<Header*>(std::malloc(HEADER + capacity));
    if (block == nullptr) throw std::bad_alloc();
    *block = {capacity, is_kept};
    ask_for_huge_pages(block, HEADER + capacity);
    return data_of(block);
}

inline void give(void* data) noexcept {
    if (data == nullptr) return;
    Header* block = header_of(data);
    if (!block->is_kept || !free_blocks().give(block)) std::free(block);
}

// More memory that begins with the first `used` bytes of `data`, which is given back.
inline void* grow(void* data, std::size_t used, std::size_t bytes) {
    if (data != nullptr && !header_of(data)->is_kept && bytes > LARGEST) {  // the system can move it without a copy
        if (bytes > std::numeric_limits<std::ptrdiff_t>::max() - HEADER) throw std::bad_alloc();
        auto* block = static_cast<Header*>(std::realloc(header_of(data), HEADER + bytes));
        if (block == nullptr) throw std::bad_alloc();
        block->capacity = bytes;
        ask_for_huge_pages(block, HEADER + bytes);
        return data_of(block);
    }
    void* larger = take(bytes);
    if (used > 0) std::memcpy(larger, data, used);
    give(data);
    return larger;
}

}  // namespace roughly::memory
