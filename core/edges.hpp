// Where tokens start and end: the first pass of the tokeniser.
//
// A flag for each byte says whether it belongs to a token; eight flags at a time, the changes between neighbours are
// gathered into one number by a product, and a table of 256 rows says at which positions they are. There is no branch
// on the text, so nothing depends on how well a processor guesses.
//
// Edges are uint32 positions within one document, starts and ends in turns. `edges` needs room for one more than the
// bytes of the document and eight besides; `flags` for BLOCK and eight.
#pragma once

#include <algorithm>
#include <array>
#include <bit>

#include "words.hpp"

namespace roughly {

inline constexpr u64 BLOCK = 1 << 14;
inline constexpr u64 GATHER = 0x0102040810204080;  // times a word of bytes 0 or 1 has these bits in its highest byte

// Whether bytes above 127 belong to tokens: not in ASCII text, which has none, but in canonical form.
enum class High : u8 { separates = 0, belongs = 1 };

// For each set of changes within eight bytes: where they are, lowest first.
inline constexpr auto POSITIONS = [] {
    std::array<std::array<u32, 8>, 256> rows{};
    for (u32 row = 0; row < 256; row++) {
        u32 nth = 0;
        for (u32 bit = 0; bit < 8; bit++) {
            if (row >> bit & 1) rows[row][nth++] = bit;
        }
    }
    return rows;
}();

// Whether no byte of p[0:length] is above 127; looks at 64 bytes at a time.
inline bool is_ascii(const u8* p, u64 length) {
    u64 at = 0;
    for (; at + 64 <= length; at += 64) {
        u64 any = 0;
        for (u64 k = 0; k < 64; k += 8) any |= load(p + at + k);
        if ((any & HIGH_BITS) != 0) return false;
    }
    u8 any = 0;
    for (; at < length; at++) any |= p[at];
    return any < 128;
}

// 1 for each byte of p[0:length] that belongs to a token, else 0; then zeros to a whole word.
inline void mark_inside(const u8* p, u64 length, High high, u8* flags) {
    const u8 belongs = static_cast<u8>(high);
    for (u64 i = 0; i < length; i++) flags[i] = in_word(p[i]) | (p[i] >> 7 & belongs);
    store(flags + length, 0);
}

// Where tokens start and end in p[0:length], in turns; returns how many edges there are.
// Works through BLOCK bytes at a time, whose flags stay in the fastest cache. Six edges in eight bytes are written in
// any case, the last two only where there are more.
inline u64 find_edges(const u8* p, u64 length, High high, u8* flags, u32* edges) {
    u64 n = 0, before = 0;
    for (u64 block = 0; block < length; block += BLOCK) {
        const u64 size = std::min(BLOCK, length - block);
        mark_inside(p + block, size, high, flags);
        for (u64 at = 0; at < size; at += 8) {
            const u64 word = load(flags + at), changes = word ^ (word << 8 | before);
            before = word >> 56;
            const u64 row = changes * GATHER >> 56;
            const u32 here = static_cast<u32>(block + at);
            const auto& positions = POSITIONS[row];
            const u64 count = static_cast<u64>(std::popcount(row));
            for (u64 k = 0; k < 6; k++) edges[n + k] = positions[k] + here;
            if (count > 6) {
                edges[n + 6] = positions[6] + here;
                edges[n + 7] = positions[7] + here;
            }
            n += count;
        }
    }
    if (before != 0) edges[n++] = static_cast<u32>(length);
    return n;
}

}  // namespace roughly
