// Texts signed in one pass: tokens, fingerprints and keys of one document after another, while it lies in the cache.
//
// The same as tokenise, hash_bytes, hash_sequences and band_keys one after the other, each of which would read from
// memory what the one before it wrote there; with many threads that is what they would wait for.
#pragma once

#include <span>

#include "buffer.hpp"
#include "hashing.hpp"
#include "minhash.hpp"
#include "tokens.hpp"

namespace roughly {

struct BandRequest {
    u64 shingle_size;
    Orderings orderings;
    u64 bands, rows;
};

// Of document d: two words each of `raw` and `lexical`, `bands` of keys.
struct SignedTexts {
    Buffer<u64> raw;      // fingerprints of the bytes
    Buffer<u64> lexical;  // fingerprints of the tokens in order
    Buffer<u64> keys;
    Buffer<i64> lengths;  // in tokens
};

inline SignedTexts sign_texts(std::span<const u8> data, std::span<const i64> offsets, const UnicodeTable& table,
                              const BandRequest& request) {
    const std::size_t n = offsets.size() - 1;
    SignedTexts out{Buffer<u64>(2 * n), Buffer<u64>(2 * n), Buffer<u64>(n * request.bands), Buffer<i64>(n)};
    TokenScratch scratch;
    Buffer<u64> hashes(1 << 12);
    Buffer<u32> samples(request.bands * request.rows);
    MinhashSampler sampler(request.shingle_size, request.orderings, request.bands * request.rows);
    for (std::size_t d = 0; d < n; d++) {
        const u64 at = static_cast<u64>(offsets[d]), end = static_cast<u64>(offsets[d + 1]);
        const u64 count = put_tokens(data, at, end, table, scratch, hashes, 0);
        const std::span<const u64> tokens(hashes.data(), count);
        const Fingerprint raw = fingerprint(data, at, end), lexical = fingerprint(tokens);
        out.raw[2 * d] = raw.first;
        out.raw[2 * d + 1] = raw.second;
        out.lexical[2 * d] = lexical.first;
        out.lexical[2 * d + 1] = lexical.second;
        out.lengths[d] = static_cast<i64>(count);
        sampler.sample(tokens, samples.data());
        hash_bands(samples.data(), request.bands, request.rows, out.keys.data() + d * request.bands);
    }
    return out;
}

}  // namespace roughly
