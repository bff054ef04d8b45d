// Eight bytes at a time: text read, written and lower-cased as 64-bit words, lowest byte first.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace roughly {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

inline constexpr u64 ALL_BITS = ~u64{0};
inline constexpr u64 HIGH_BITS = 0x8080808080808080;
inline constexpr u64 EACH_BYTE = 0x0101010101010101;

inline constexpr u64 little_endian(u64 word) {
    if constexpr (std::endian::native == std::endian::little) return word;
    u64 turned = 0;
    for (int i = 0; i < 8; i++) turned |= (word >> (8 * i) & 255) << (56 - 8 * i);
    return turned;
}

// The little-endian word at p[0:8].
inline u64 load(const u8* p) {
    u64 word;
    std::memcpy(&word, p, 8);
    return little_endian(word);
}

// Write a little-endian word to p[0:8].
inline void store(u8* p, u64 word) {
    word = little_endian(word);
    std::memcpy(p, &word, 8);
}

// The little-endian word of p[0:length], length ≤ 8, with zeros above. `readable` bytes can be read from p on.
inline u64 load_tail(const u8* p, u64 length, u64 readable) {
    if (length == 0) return 0;
    if (readable >= 8) return load(p) & (ALL_BITS >> (64 - 8 * length));
    u64 word = 0;
    for (u64 i = 0; i < length; i++) word |= u64{p[i]} << (8 * i);
    return word;
}

// Eight bytes with bit 5 set in those below 128: letters in lower case, digits as they are, the rest spoilt.
inline constexpr u64 lower(u64 word) { return word | ((~word & HIGH_BITS) >> 2); }

// 1 for an ASCII letter or digit, else 0; written as arithmetic, so that loops of it vectorise.
inline constexpr u8 in_word(u8 byte) {
    const bool letter = static_cast<u8>((byte | 32) - 97) < 26;
    const bool digit = static_cast<u8>(byte - 48) < 10;
    return static_cast<u8>(letter | digit);
}

}  // namespace roughly
