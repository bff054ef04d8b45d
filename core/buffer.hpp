// Memory that a kernel fills itself: an owned array whose elements begin undefined.
//
// std::vector writes zeros first, which costs as much as a light kernel itself. Use a Buffer where the size is known
// before the loop runs, or where it grows in few large steps, and std::vector elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace roughly {

// Large memory in pages of 2 MB where the system has them, as numpy asks for its arrays: to touch new memory for the
// first time costs more, in pages of 4 KB, than what most kernels do with it.
inline void ask_for_huge_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    constexpr std::size_t LARGE = std::size_t{1} << 22, PAGE = 4096;
    if (bytes < LARGE) return;
    const std::size_t ahead = (PAGE - reinterpret_cast<std::uintptr_t>(memory) % PAGE) % PAGE;
    madvise(static_cast<char*>(memory) + ahead, bytes - ahead, MADV_HUGEPAGE);  // no matter if it is refused
#endif
}

template <typename T>
class Buffer {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= alignof(std::max_align_t));

public:
    Buffer() = default;
    explicit Buffer(std::size_t size) { resize(size); }

    // Keeps what fits into the new size; what is new is undefined.
    void resize(std::size_t size) {
        if (size > std::numeric_limits<std::ptrdiff_t>::max() / sizeof(T)) throw std::bad_alloc();
        void* moved = std::realloc(data_.get(), size == 0 ? 1 : size * sizeof(T));
        if (moved == nullptr) throw std::bad_alloc();
        static_cast<void>(data_.release());
        data_.reset(static_cast<T*>(moved));
        if (size > size_) ask_for_huge_pages(moved, size * sizeof(T));
        size_ = size;
    }

    // Keeps the first `size` elements. Memory is given back only where that is at least half of it: to take it anew
    // for the next batch costs more than to leave it for a while.
    void truncate(std::size_t size) {
        if (size < size_ / 2) resize(size);
        size_ = size;
    }

    std::size_t size() const { return size_; }
    T* data() { return data_.get(); }
    const T* data() const { return data_.get(); }
    T& operator[](std::size_t i) { return data_.get()[i]; }
    const T& operator[](std::size_t i) const { return data_.get()[i]; }
    T* begin() { return data_.get(); }
    T* end() { return data_.get() + size_; }
    std::span<T> span() { return {data_.get(), size_}; }
    std::span<const T> span() const { return {data_.get(), size_}; }

    // Gives the memory away; the caller frees it with std::free.
    T* release() {
        size_ = 0;
        return data_.release();
    }

private:
    struct Free {
        void operator()(T* p) const { std::free(p); }
    };
    std::unique_ptr<T, Free> data_;
    std::size_t size_ = 0;
};

}  // namespace roughly
