// The hashes of tokens: the second pass of the tokeniser.
//
// A token is hashed eight bytes at a time, in lower case: setting bit 5 of a byte below 128 lowers a letter and leaves a
// digit alone. The last word is filled with zeros, which no token contains, so tokens of up to eight bytes certainly
// have distinct hashes.
//
// Four of five tokens have eight bytes at most. All are hashed as if they had, several of them at once where the
// processor can (`processor`); the longer ones are noted without a branch that the processor would have to guess, and
// hashed once more. Words are loaded one by one: instructions that gather them are slow on many processors.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "edges.hpp"
#include "hashing.hpp"
#include "processor.hpp"
#include "words.hpp"

namespace roughly {

// The tokens of a piece: token i is text[edges[2i]:edges[2i + 1]], with the edges in an array beside it.
struct TokenPiece {
    const u8* text;
    u64 readable;    // bytes that can be read from `text` on
    u64 edges;       // how many; twice the tokens
    bool rewritten;  // whether `text` is canonical form
};

// The hash of the token p[0:left].
inline u64 hash_token(const u8* p, u64 left, u64 readable) {
    u64 h = SEED;
    for (; left > 8; p += 8, left -= 8, readable -= 8) h = absorb(h, lower(load(p)));
    return mix(h ^ (lower(load_tail(p, left, readable)) & (ALL_BITS >> (64 - 8 * left))));
}

// Hashes the tokens first to end as if they had eight bytes at most, all of which can be read, and appends the numbers
// of the longer ones to longs[n:]; returns the new end.
inline u64 hash_words(const u8* text, const u32* edges, u64 first, u64 end, u32* longs, u64 n, u64* out) {
    for (u64 i = first; i < end; i++) {
        const u64 at = edges[2 * i], left = edges[2 * i + 1] - at;
        longs[n] = static_cast<u32>(i);
        n += left > 8;
        out[i] = mix(SEED ^ (lower(load(text + at)) & (ALL_BITS >> ((64 - 8 * left) & 63))));
    }
    return n;
}

#if defined(__x86_64__)
// The same for the tokens 0 to end, eight at a time. (With AVX-512 it takes as long.)
ROUGHLY_AVX2 inline u64 hash_words_avx2(const u8* text, const u32* edges, u64 end, u32* longs, u64* out) {
    using Four = u64 __attribute__((vector_size(32)));
    u64 i = 0, n = 0;
    for (; i + 8 <= end; i += 8) {
        u64 longer = 0;
        for (u64 k = 0; k < 8; k += 4) {
            const u32* here = edges + 2 * (i + k);
            Four pair, word;  // start and end of a token; its first eight bytes
            std::memcpy(&pair, here, sizeof pair);
            for (u64 lane = 0; lane < 4; lane++) word[lane] = load(text + here[2 * lane]);
            const Four left = (pair >> 32) - (pair & 0xFFFFFFFF), is_longer = 8 - left;  // in its highest bit
            longer |= static_cast<u64>(_mm256_movemask_pd(reinterpret_cast<const __m256d&>(is_longer))) << k;
            word |= (~word & HIGH_BITS) >> 2;
            Four h = SEED ^ (word & ((Four{} + ALL_BITS) >> ((64 - 8 * left) & 63)));
            h ^= h >> 27;
            h *= M1;
            h ^= h >> 33;
            h *= M2;
            h ^= h >> 27;
            std::memcpy(out + i + k, &h, sizeof h);
        }
        n += put_places(longer, Words4{} + static_cast<u32>(i), longs + n);
    }
    return hash_words(text, edges, i, end, longs, n, out);
}
#endif

inline u64 hash_words(const u8* text, const u32* edges, u64 end, u32* longs, u64* out) {
#if defined(__x86_64__)
    if (vector_level() >= VectorLevel::avx2) return hash_words_avx2(text, edges, end, longs, out);
#endif
    return hash_words(text, edges, 0, end, longs, 0, out);
}

// Hashes the token between each pair of edges into out[0], out[1], …; `longs` has room for as many and eight more.
inline void hash_between(const TokenPiece& piece, const u32* edges, u32* longs, u64* out) {
    const u8* text = piece.text;
    const u64 count = piece.edges / 2;
    u64 inside = count;  // up to where eight bytes can be read
    while (inside > 0 && edges[2 * inside - 2] + u64{8} > piece.readable) inside--;
    const u64 found = hash_words(text, edges, inside, longs, out);
    for (u64 k = 0; k < found; k++) {
        const u64 i = longs[k], at = edges[2 * i], left = edges[2 * i + 1] - at;
        if (left <= 16 && at + 16 <= piece.readable) {  // nearly all of them
            const u64 last = lower(load(text + at + 8)) & (ALL_BITS >> (128 - 8 * left));
            out[i] = mix(absorb(SEED, lower(load(text + at))) ^ last);
        } else {
            out[i] = hash_token(text + at, left, piece.readable - at);
        }
    }
    for (u64 i = inside; i < count; i++) {
        const u64 at = edges[2 * i];
        out[i] = hash_token(text + at, edges[2 * i + 1] - at, piece.readable - at);
    }
}

}  // namespace roughly
