// Hashes: the 64-bit mixers that all other kernels share, and 128-bit fingerprints of strings and sequences.
//
// All arithmetic is on uint64 and wraps around modulo 2^64. None of this is cryptographic: it protects against
// accidents, not against someone who builds collisions on purpose.
//
// `absorb` folds one 64-bit word w into a state h,
//
//     h ← rotl(h + w·A, 31)·B          A, B odd
//
// which is a bijection of h for each w and of w for each h, so two strings of one length that differ in one word never
// collide. `mix` is Evensen's *moremur*, a bijection with good avalanche.
//
// A product of two 64-bit words occupies the only multiplier of many processors for three cycles, so where hashes are
// most of the work there is one product per word. A fingerprint has two lanes, of other multipliers and seeds,
//
//     h ← s(C·(h ⊕ r(w)))              r(w) = w ⊕ w ≫ 29,  s(h) = h ⊕ h ≫ 32
//
// a bijection of h and of w again. Without r the highest bit of a word would change one bit of the state only, which
// the next word could undo. What cancels in one lane does not in the other. The length is added and the state mixed at
// the end, so a string and the same string followed by zero bytes differ. `spread`, s(M1·h), is for numbers that
// are random in all their bits already, but depend on each other.
//
// | constant     | value                                                                               |
// |--------------|-------------------------------------------------------------------------------------|
// | SEED, SEED2  | the first and second 64 bits of the fraction of π                                   |
// | A, B         | 2^64/φ made odd, as in SplitMix64; the second prime of xxHash64                      |
// | C, C2        | a 64-bit LCG multiplier of Steele and Vigna (2021); the first prime of xxHash64      |
// | M1, M2       | the multipliers of moremur                                                          |
#pragma once

#include <bit>
#include <span>

#include "buffer.hpp"
#include "words.hpp"

namespace roughly {

inline constexpr u64 SEED = 0x243F6A8885A308D3;
inline constexpr u64 SEED2 = 0x13198A2E03707344;
inline constexpr u64 A = 0x9E3779B97F4A7C15;
inline constexpr u64 B = 0xC2B2AE3D27D4EB4F;
inline constexpr u64 C = 0xD1342543DE82EF95;
inline constexpr u64 C2 = 0x9E3779B185EBCA87;
inline constexpr u64 M1 = 0x3C79AC492BA7B653;
inline constexpr u64 M2 = 0x1C69B3F74AC4AE35;

// moremur: a bijection of 64 bits after which every bit depends on every bit.
inline constexpr u64 mix(u64 h) {
    h ^= h >> 27;
    h *= M1;
    h ^= h >> 33;
    h *= M2;
    return h ^ h >> 27;
}

// Fold a word into the state.
inline constexpr u64 absorb(u64 h, u64 word) { return std::rotl(h + word * A, 31) * B; }

// A bijection of 64 bits that hides how sums and exclusive ors of random numbers depend on each other.
inline constexpr u64 spread(u64 h) {
    h *= M1;
    return h ^ h >> 32;
}

// Fold a word into the state of a fingerprint's lane.
inline constexpr u64 fold(u64 h, u64 word, u64 by) {
    h = (h ^ word ^ word >> 29) * by;
    return h ^ h >> 32;
}

struct Fingerprint {
    u64 first, second;
};

// 128-bit fingerprint of the bytes data[at:end].
inline Fingerprint fingerprint(std::span<const u8> data, u64 at, u64 end) {
    const u64 length = end - at;
    u64 h = SEED, g = SEED2;
    for (; at + 8 <= end; at += 8) {
        const u64 word = load(data.data() + at);
        h = fold(h, word, C);
        g = fold(g, word, C2);
    }
    const u64 word = load_tail(data.data() + at, end - at, data.size() - at);
    return {mix(fold(h, word, C) + length), mix(fold(g, word, C2) + length)};
}

// 128-bit fingerprint of a sequence of values.
template <typename T>
Fingerprint fingerprint(std::span<const T> values) {
    u64 h = SEED, g = SEED2;
    for (const u64 value : values) {
        h = fold(h, value, C);
        g = fold(g, value, C2);
    }
    return {mix(h + values.size()), mix(g + values.size())};
}

// The fingerprint of each byte string data[offsets[i]:offsets[i + 1]]: two words per string.
inline Buffer<u64> hash_bytes(std::span<const u8> data, std::span<const i64> offsets) {
    const std::size_t n = offsets.size() - 1;
    Buffer<u64> out(2 * n);
    for (std::size_t d = 0; d < n; d++) {
        const auto found = fingerprint(data, static_cast<u64>(offsets[d]), static_cast<u64>(offsets[d + 1]));
        out[2 * d] = found.first;
        out[2 * d + 1] = found.second;
    }
    return out;
}

// The fingerprint of each sequence values[offsets[i]:offsets[i + 1]]: two words per sequence.
template <typename T>
Buffer<u64> hash_sequences(std::span<const T> values, std::span<const i64> offsets) {
    const std::size_t n = offsets.size() - 1;
    Buffer<u64> out(2 * n);
    for (std::size_t d = 0; d < n; d++) {
        const u64 at = static_cast<u64>(offsets[d]), end = static_cast<u64>(offsets[d + 1]);
        const auto found = fingerprint(values.subspan(at, end - at));
        out[2 * d] = found.first;
        out[2 * d + 1] = found.second;
    }
    return out;
}

}  // namespace roughly
