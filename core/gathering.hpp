// Copies scattered ranges of an array together.
#pragma once

#include <algorithm>
#include <span>
#include <stdexcept>

#include "buffer.hpp"
#include "words.hpp"

namespace roughly {

// out[offsets[i]:offsets[i + 1]] = values[starts[i]:…] for each start. Throws if a range is not within `values`.
inline Buffer<u64> gather_ranges(std::span<const u64> values, std::span<const i64> starts,
                                 std::span<const i64> offsets) {
    if (offsets.size() < starts.size() + 1 || offsets.back() < 0) {
        throw std::invalid_argument("offsets must hold one position more than there are starts");
    }
    const i64 size = static_cast<i64>(values.size()), room = offsets.back();
    Buffer<u64> out(static_cast<u64>(room));
    for (std::size_t i = 0; i < starts.size(); i++) {
        const i64 start = starts[i], at = offsets[i], end = offsets[i + 1];
        if (at < 0 || end < at || end > room || start < 0 || start > size || end - at > size - start) {
            throw std::invalid_argument("a range to be gathered does not lie within the values");
        }
        std::copy_n(values.data() + start, end - at, out.data() + at);
    }
    return out;
}

}  // namespace roughly
