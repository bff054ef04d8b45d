// Sixty-four bytes at a time: vectors of bytes, and a bit for each byte that a comparison holds for.
//
// The vectors are the compiler's, which knows how to add and compare them on every processor. Only gathering the
// outcome of a comparison (255 or 0 per byte) into bits is written for each kind of processor.
#pragma once

#include <cstring>

#include "words.hpp"

#if defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace roughly {

using Bytes16 = u8 __attribute__((vector_size(16)));
using Words4 = u32 __attribute__((vector_size(16)));

inline Bytes16 load16(const u8* p) {
    Bytes16 bytes;
    std::memcpy(&bytes, p, 16);
    return bytes;
}

inline void store16(u8* p, Bytes16 bytes) { std::memcpy(p, &bytes, 16); }

inline Words4 load_words(const u32* p) {
    Words4 words;
    std::memcpy(&words, p, 16);
    return words;
}

inline void store_words(u32* p, Words4 words) { std::memcpy(p, &words, 16); }

inline constexpr Bytes16 each(u8 byte) { return Bytes16{} + byte; }

// Bit i of the result is the lowest bit of byte i of a, b, c and d, one after another; each byte is 255 or 0.
inline u64 bits_of(Bytes16 a, Bytes16 b, Bytes16 c, Bytes16 d) {
#if defined(__aarch64__)
    const Bytes16 weights = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const auto pairs = [](Bytes16 x, Bytes16 y) { return vpaddq_u8(uint8x16_t(x), uint8x16_t(y)); };
    const auto low = pairs(a & weights, b & weights), high = pairs(c & weights, d & weights);
    const auto sums = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)), 0);
#elif defined(__SSE2__)
    const auto bits = [](Bytes16 x) { return u64{static_cast<u32>(_mm_movemask_epi8(__m128i(x)))}; };
    return bits(a) | bits(b) << 16 | bits(c) << 32 | bits(d) << 48;
#else
    u64 all = 0;
    const Bytes16 vectors[4] = {a, b, c, d};
    for (int i = 0; i < 64; i++) all |= u64{vectors[i / 16][i % 16] & 1u} << i;
    return all;
#endif
}

}  // namespace roughly
