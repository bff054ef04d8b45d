// What the bindings of comparing and grouping share: rows out as matrices, named tuples of arrays in, sizes checked.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <nanobind/stl/tuple.h>

#include "bind.hpp"
#include "matrix.hpp"
#include "words.hpp"

namespace roughly {

// A vector of rows, each a struct of numbers of type T, as a matrix that owns it; no copy. The GIL must be held.
template <typename T, typename Row>
Numpy<T> rows_to_numpy(std::vector<Row>&& rows) {
    static_assert(std::is_trivially_copyable_v<Row> && sizeof(Row) % sizeof(T) == 0);
    if (rows.capacity() == 0) rows.reserve(1);  // numpy wants an address even where there is nothing
    auto* owned = new std::vector<Row>(std::move(rows));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<Row>*>(p); });
    return Numpy<T>(reinterpret_cast<T*>(owned->data()), {owned->size(), sizeof(Row) / sizeof(T)}, owner);
}

template <typename T>
Matrix<T> matrix(const Given<T, 2>& array) {
    return {array.data(), static_cast<i64>(array.shape(0)), static_cast<i64>(array.shape(1))};
}

// Refuses a caller's mistake that would read or write foreign memory.
inline void require(bool holds, const char* message) {
    if (!holds) throw std::invalid_argument(message);
}

// Refuses offsets that do not rise, or that end beyond the values.
inline void require_rising_offsets(std::span<const i64> offsets, std::size_t values) {
    require(!offsets.empty(), "offsets must hold at least one position");
    i64 last = 0;
    for (const i64 offset : offsets) {
        require(offset >= last, "offsets must rise from 0 or more");
        last = offset;
    }
    require(static_cast<u64>(last) <= values, "offsets must stay within the values");
}

// Refuses numbers of rows that do not exist.
inline void require_below(std::span<const i64> numbers, std::size_t count, const char* message) {
    u64 most = 0;
    for (const i64 number : numbers) most = std::max(most, static_cast<u64>(number));  // a negative one is huge
    require(numbers.empty() || most < count, message);
}

// The fields of a named tuple of arrays and numbers, by position. Needs the GIL. What it gives are views: the arrays are
// never converted, so they stay alive as long as the tuple does, which the caller holds for the whole call.
class Fields {
public:
    Fields(nb::handle tuple, const char* name, std::size_t count) : tuple_(nb::borrow<nb::tuple>(tuple)), name_(name) {
        if (!nb::isinstance<nb::tuple>(tuple) || tuple_.size() != count) {
            throw nb::type_error((std::string("expected a ") + name + " of " + std::to_string(count) + " fields").c_str());
        }
    }

    nb::handle operator[](std::size_t field) const { return tuple_[field]; }

    template <typename T>
    T get(std::size_t field) const {
        T value{};
        if (!nb::try_cast<T>(tuple_[field], value)) {
            throw nb::type_error(
                (std::string("field ") + std::to_string(field) + " of " + name_ + " has the wrong type").c_str());
        }
        return value;
    }
    template <typename T>
    std::span<const T> in(std::size_t field) const {
        return span(get<In<T>>(field));
    }
    template <typename T>
    std::span<T> out(std::size_t field) const {
        return span(get<Out<T>>(field));
    }
    template <typename T>
    Matrix<const T> in2(std::size_t field) const {
        return matrix(get<In2<T>>(field));
    }
    template <typename T>
    Matrix<T> out2(std::size_t field) const {
        return matrix(get<Out2<T>>(field));
    }

private:
    nb::tuple tuple_;
    const char* name_;
};

}  // namespace roughly
