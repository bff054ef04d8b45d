// Where lines end.
#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "words.hpp"

namespace roughly {

// Where each line ends, its line feed included; the last may lack it.
inline std::vector<i64> line_ends(std::span<const u8> data) {
    std::vector<i64> ends;
    const u8* const first = data.data();
    const u8* const last = first + data.size();
    for (const u8* p = first; p < last;) {
        const void* feed = std::memchr(p, '\n', static_cast<std::size_t>(last - p));
        p = feed == nullptr ? last : static_cast<const u8*>(feed) + 1;
        ends.push_back(p - first);
    }
    return ends;
}

}  // namespace roughly
