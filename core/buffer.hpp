// Memory that a kernel fills itself: an owned array whose elements begin undefined.
//
// std::vector writes zeros first, which costs as much as a light kernel itself. Use a Buffer where the size is known
// before the loop runs, or where it grows in few large steps, and std::vector elsewhere.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

#include "memory.hpp"

namespace roughly {

template <typename T>
class Buffer {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= memory::HEADER);

public:
    Buffer() = default;
    explicit Buffer(std::size_t size) { resize(size); }

    // Keeps what fits into the new size; what is new is undefined.
    void resize(std::size_t size) {
        if (size > std::numeric_limits<std::ptrdiff_t>::max() / sizeof(T)) throw std::bad_alloc();
        const std::size_t bytes = size * sizeof(T);
        if (data_ == nullptr || bytes > memory::capacity_of(data_.get())) {
            move_to(memory::grow(data_.get(), size_ * sizeof(T), bytes));
        }
        size_ = size;
    }

    // Keeps the first `size` elements. Memory is freed only if that is at least half of it: allocating it again for the
    // next batch costs more than keeping it.
    void truncate(std::size_t size) {
        if (size * sizeof(T) < memory::capacity_of(data_.get()) / 2) {
            void* smaller = memory::take(size * sizeof(T));
            if (size > 0) std::memcpy(smaller, data_.get(), size * sizeof(T));
            data_.reset(static_cast<T*>(smaller));
        }
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

    // Releases the memory; the caller frees it with memory::give.
    T* release() {
        size_ = 0;
        return data_.release();
    }

private:
    // `moved` holds what data_ held, which was given back.
    void move_to(void* moved) {
        static_cast<void>(data_.release());
        data_.reset(static_cast<T*>(moved));
    }

    struct Free {
        void operator()(T* p) const { memory::give(p); }
    };
    std::unique_ptr<T, Free> data_;
    std::size_t size_ = 0;
};

}  // namespace roughly
