// In how many bits two bitmaps differ: the inner loop of verification, 16 words as a rule.
//
//     h(a, b) = Σ popcount(a[w] ⊕ b[w])
//
// An aarch64 processor counts the bits of sixteen bytes at once; the counts of four such vectors fit into bytes and
// are added up at the end. An x86-64 processor counts those of a word, but not in the baseline that is shipped, so the
// instruction is looked for when the module is loaded.
#pragma once

#include <bit>

#include "words.hpp"

#if defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__x86_64__)
#include <cpuid.h>
#endif

namespace roughly {

#if defined(__aarch64__)

// Eight words: at most 8 bits per byte and vector, 32 in all.
inline u64 differing_bits_of_8(const u64* a, const u64* b) {
    uint8x16_t counts = vdupq_n_u8(0);
    for (int w = 0; w < 8; w += 2) {
        const uint64x2_t differ = veorq_u64(vld1q_u64(a + w), vld1q_u64(b + w));
        counts = vaddq_u8(counts, vcntq_u8(vreinterpretq_u8_u64(differ)));
    }
    return vaddlvq_u8(counts);
}

inline u64 differing_bits(const u64* a, const u64* b, i64 words) {
    u64 bits = 0;
    i64 w = 0;
    for (; w + 8 <= words; w += 8) bits += differing_bits_of_8(a + w, b + w);
    for (; w + 2 <= words; w += 2) {
        bits += vaddvq_u8(vcntq_u8(vreinterpretq_u8_u64(veorq_u64(vld1q_u64(a + w), vld1q_u64(b + w)))));
    }
    if (w < words) bits += static_cast<u64>(std::popcount(a[w] ^ b[w]));
    return bits;
}

#elif defined(__x86_64__)

[[gnu::target("popcnt")]] inline u64 differing_bits_by_popcnt(
    const u64* a, const u64* b, i64 words) {
    u64 bits = 0;
    for (i64 w = 0; w < words; ++w) bits += static_cast<u64>(__builtin_popcountll(a[w] ^ b[w]));
    return bits;
}

inline bool can_popcnt() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_POPCNT) != 0;
}

inline const bool HAS_POPCNT = can_popcnt();

// Bits counted in pairs, nibbles and bytes side by side: plain arithmetic that the baseline has vectors for.
inline u64 differing_bits_by_sums(const u64* a, const u64* b, i64 words) {
    u64 bits = 0;
    for (i64 w = 0; w < words; ++w) {
        u64 x = a[w] ^ b[w];
        x -= (x >> 1) & 0x5555555555555555;
        x = (x & 0x3333333333333333) + ((x >> 2) & 0x3333333333333333);
        x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0F;
        x += x >> 8;
        x += x >> 16;
        x += x >> 32;
        bits += x & 0x7F;
    }
    return bits;
}

inline u64 differing_bits(const u64* a, const u64* b, i64 words) {
    return HAS_POPCNT ? differing_bits_by_popcnt(a, b, words) : differing_bits_by_sums(a, b, words);
}

#else

inline u64 differing_bits(const u64* a, const u64* b, i64 words) {
    u64 bits = 0;
    for (i64 w = 0; w < words; ++w) bits += static_cast<u64>(std::popcount(a[w] ^ b[w]));
    return bits;
}

#endif

}  // namespace roughly
