// Where tokens start and end: the first pass of the tokeniser.
//
// For 64 bytes at a time a bit says of each whether it belongs to a token; w ⊕ (w ≪ 1) has a bit wherever that changes,
// and a table of 256 rows says where these bits are, eight at a time. There is no branch on the text, so nothing
// depends on how well a processor guesses.
//
// Edges are uint32 positions within one text, starts and ends in turns. `edges` needs room for one more than the bytes
// of the text and eight besides.
#pragma once

#include <array>
#include <cstring>

#include "processor.hpp"
#include "simd.hpp"
#include "words.hpp"

namespace roughly {

// Whether bytes above 127 belong to tokens: not in ASCII text, which has none, but in canonical form.
enum class High : u8 { separates = 0, belongs = 1 };

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

// 255 for each byte that belongs to a token, else 0: ASCII letters and digits do, and bytes above 127 if `high` says so.
template <High high>
Bytes16 belongs_to_token(Bytes16 bytes) {
    const auto letter = (bytes | each(32)) - each('a') < each(26), digit = bytes - each('0') < each(10);
    if constexpr (high == High::belongs) return Bytes16(letter | digit | (bytes >= each(128)));
    return Bytes16(letter | digit);
}

template <High high>
inline u64 token_bits(const u8* p) {
    return bits_of(belongs_to_token<high>(load16(p)), belongs_to_token<high>(load16(p + 16)),
                   belongs_to_token<high>(load16(p + 32)), belongs_to_token<high>(load16(p + 48)));
}

// For each set of eight bits: how many are set, and where, lowest first.
struct BitPositions {
    alignas(32) std::array<std::array<u32, 8>, 256> places{};
    std::array<u8, 256> counts{};

    constexpr BitPositions() {
        for (u32 row = 0; row < 256; row++) {
            for (u32 bit = 0; bit < 8; bit++) {
                if (row >> bit & 1) places[row][counts[row]++] = bit;
            }
        }
    }
};
inline constexpr BitPositions BIT_POSITIONS;

// Writes from + i for each bit i of the eight that is set, lowest first, to out[0:8]; returns how many.
ROUGHLY_INLINE u64 put_places(u64 eight, Words4 from, u32* out) {
    const u32* places = BIT_POSITIONS.places[eight].data();
    store_words(out, load_words(places) + from);
    store_words(out + 4, load_words(places + 4) + from);
    return BIT_POSITIONS.counts[eight];
}

// Writes here + i for each bit i that is set, lowest first; returns how many. Writes up to eight places too many.
inline u64 put_positions(u64 bits, u32 here, u32* out) {
    u32* const first = out;
    Words4 from = Words4{} + here;
    for (int byte = 0; byte < 8; byte++, from += 8) out += put_places(bits >> (8 * byte) & 255, from, out);
    return static_cast<u64>(out - first);
}

// Where tokens start and end in p[0:length], in turns; returns how many edges there are.
template <High high>
u64 find_edges(const u8* p, u64 length, u32* edges) {
    u64 n = 0, before = 0, at = 0;
    const auto put = [&](u64 inside) {
        n += put_positions(inside ^ (inside << 1 | before), static_cast<u32>(at), edges + n);
        before = inside >> 63;
    };
    for (; at + 64 <= length; at += 64) put(token_bits<high>(p + at));
    if (at < length) {
        u8 rest[64] = {};
        std::memcpy(rest, p + at, length - at);
        put(token_bits<high>(rest));
    }
    if (before != 0) edges[n++] = static_cast<u32>(length);
    return n;
}

}  // namespace roughly
