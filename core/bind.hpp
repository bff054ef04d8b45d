// What the bindings share: numpy arrays in as spans, vectors and buffers out as numpy arrays, the GIL released.
//
// | type        | argument                                                                              |
// |-------------|---------------------------------------------------------------------------------------|
// | In<T>       | a contiguous one-dimensional array of T, read-only or not                             |
// | Out<T>      | the same, writable, filled in place                                                   |
// | In2<T>      | a C-contiguous two-dimensional array of T, read-only or not                           |
// | Out2<T>     | the same, writable                                                                    |
//
// None of them ever converts or copies: another type, shape or order is a TypeError. A whole binding reads
//
//     m.def("name", [](In<std::uint64_t> values, In<std::int64_t> offsets) {
//         return to_numpy(without_gil([&] { return name(span(values), span(offsets)); }));
//     });
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "buffer.hpp"
#include "pool.hpp"

namespace roughly {

namespace nb = nanobind;

template <typename T, std::size_t N>
struct Given : nb::ndarray<T, nb::ndim<N>, nb::c_contig, nb::device::cpu> {
    using Base = nb::ndarray<T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
    Given() = default;
    explicit Given(Base&& base) : Base(std::move(base)) {}
};

template <typename T>
using In = Given<const T, 1>;
template <typename T>
using Out = Given<T, 1>;
template <typename T>
using In2 = Given<const T, 2>;
template <typename T>
using Out2 = Given<T, 2>;

template <typename T>
using Numpy = nb::ndarray<nb::numpy, T>;

// All elements, row after row.
template <typename T, std::size_t N>
std::span<T> span(const Given<T, N>& array) {
    return {array.data(), array.size()};
}

// Calls f() without the GIL. f must not touch a Python object.
template <typename F>
auto without_gil(F&& f) {
    nb::gil_scoped_release released;
    return f();
}

// Throws what a signal's handler raised, as Ctrl-C does on the main thread. May be called without the GIL.
inline void check_signals() {
    nb::gil_scoped_acquire held;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// `parallel_for` for bindings, to be called without the GIL: Ctrl-C stops it after the chunks that have begun.
template <typename Body>
void parallel_for_with_signals(std::size_t n, unsigned threads, std::size_t chunk, Body&& body) {
    parallel_for(n, thread_count(threads), chunk, std::forward<Body>(body), check_signals);
}

// A numpy array that owns the vector's memory; no copy. The GIL must be held.
template <typename T>
Numpy<T> to_numpy(std::vector<T>&& values) {
    auto* owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Numpy<T>(owned->data(), {owned->size()}, owner);
}

// The same in this shape, whose product must be the vector's size.
template <typename T>
Numpy<T> to_numpy(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
    auto* owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Numpy<T>(owned->data(), shape, owner);
}

// The same with rows of `columns` elements.
template <typename T>
Numpy<T> to_numpy(std::vector<T>&& values, std::size_t columns) {
    const std::size_t rows = columns == 0 ? 0 : values.size() / columns;
    return to_numpy(std::move(values), {rows, columns});
}

// A numpy array of the buffer's memory, in this shape, whose product must not be more than its size.
template <typename T>
Numpy<T> to_numpy(Buffer<T>&& values, std::initializer_list<std::size_t> shape) {
    if (values.data() == nullptr) values.resize(0);
    T* owned = values.release();
    nb::capsule owner(owned, [](void* p) noexcept { memory::give(p); });
    return Numpy<T>(owned, shape, owner);
}

template <typename T>
Numpy<T> to_numpy(Buffer<T>&& values) {
    const std::size_t size = values.size();
    return to_numpy(std::move(values), {size});
}

template <typename T>
Numpy<T> to_numpy(Buffer<T>&& values, std::size_t columns) {
    const std::size_t rows = columns == 0 ? 0 : values.size() / columns;
    return to_numpy(std::move(values), {rows, columns});
}

}  // namespace roughly

namespace nanobind::detail {

// As nanobind's own caster of arrays, with its implicit conversion (a silent copy) switched off.
template <typename T, std::size_t N>
struct type_caster<roughly::Given<T, N>> {
    using Base = typename roughly::Given<T, N>::Base;
    using Array = roughly::Given<T, N>;
    NB_TYPE_CASTER(Array, type_caster<Base>::Name)

    bool from_python(handle src, std::uint32_t flags, cleanup_list* cleanup) noexcept {
        type_caster<Base> caster;
        if (!caster.from_python(src, flags & ~static_cast<std::uint32_t>(cast_flags::convert), cleanup)) return false;
        value = roughly::Given<T, N>(std::move(caster.value));
        return true;
    }
};

}  // namespace nanobind::detail
