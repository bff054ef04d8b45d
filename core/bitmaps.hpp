// A bitmap of each set, which rules out most pairs that are too different without reading the sets.
//
// Bit v mod B is flipped for every value v. Two sets differ in at least as many values as their bitmaps differ in bits:
// each value that only one of them has flips one bit. So a pair whose bitmaps differ too much is certainly too
// different. The number of words (a power of two) affects the time and never the answer; without any, nothing is ruled
// out.
#pragma once

#include <cstddef>
#include <span>

#include "matrix.hpp"
#include "popcount.hpp"
#include "words.hpp"

namespace roughly {

// Flips the bits of one set in a row of `words`.
inline void draw_bitmap(std::span<const u64> set, u64* row, i64 words) {
    const u64 mask = 64 * static_cast<u64>(words) - 1;
    for (const u64 value : set) {
        const u64 bit = value & mask;
        row[bit >> 6] ^= u64{1} << (bit & 63);
    }
}

// Flips the bits of each set; the first of them is that of row `first`.
inline void draw_bitmaps(std::span<const u64> values, std::span<const i64> offsets,
                         Matrix<u64> bitmaps, i64 first) {
    if (bitmaps.width == 0) return;
    const auto sets = static_cast<i64>(offsets.size()) - 1;
    for (i64 d = 0; d < sets; ++d) {
        const auto size = static_cast<std::size_t>(offsets[d + 1] - offsets[d]);
        draw_bitmap(values.subspan(static_cast<std::size_t>(offsets[d]), size), bitmaps.row(first + d), bitmaps.width);
    }
}

// Whether two bitmaps differ in more than `allowed` bits. Most that do show it in their first half.
inline bool differ_by_more(const u64* one, const u64* other, i64 words, double allowed) {
    i64 begin = 0;
    u64 bits = 0;
    if (words == 16) {
        bits = differing_bits(one, other, 8);
        if (static_cast<double>(bits) > allowed) return true;
        begin = 8;
    }
    return static_cast<double>(bits + differing_bits(one + begin, other + begin, words - begin)) > allowed;
}

}  // namespace roughly
