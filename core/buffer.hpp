// Memory that a kernel fills completely: an owned array whose elements begin undefined.
//
// std::vector writes zeros first, which costs as much as a light kernel itself. Use a Buffer where the size is known
// before the loop runs, and std::vector where a result grows.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

namespace roughly {

template <typename T>
class Buffer {
    static_assert(std::is_trivially_default_constructible_v<T>);

public:
    Buffer() = default;
    explicit Buffer(std::size_t size) : data_(std::make_unique_for_overwrite<T[]>(size)), size_(size) {}

    std::size_t size() const { return size_; }
    T* data() { return data_.get(); }
    const T* data() const { return data_.get(); }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }
    T* begin() { return data_.get(); }
    T* end() { return data_.get() + size_; }
    std::span<T> span() { return {data_.get(), size_}; }
    std::span<const T> span() const { return {data_.get(), size_}; }

    // Gives the memory away; the caller deletes it with delete[].
    T* release() {
        size_ = 0;
        return data_.release();
    }

private:
    std::unique_ptr<T[]> data_;
    std::size_t size_ = 0;
};

}  // namespace roughly
