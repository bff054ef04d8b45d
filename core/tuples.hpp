// Keys made of several samples of a document: tuples of words, and pairs of super shingles.
//
// `word_keys` (Haveliwala 2000, as Kołcz 2008, §2 and §4 describe it): permutation p orders all words at random; the
// key is a hash of the k words of the document that come first. Words are distinct tokens, ordered by a_p·x + b_p mod
// 2^32 of the high word x of their hash.
//
// `pair_keys` (Fetterly 2003): a hash of every two of a document's super shingles and of which two they are.
//
// A document without words has no key, which is written 0; a key that happens to be 0 is written 1.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "buffer.hpp"
#include "hashing.hpp"
#include "shingles.hpp"
#include "terms.hpp"
#include "words.hpp"

namespace roughly {

// The `words` least of the images a·x + b mod 2^32 of n numbers, in order; a repeated number is repeated.
class LeastImages {
public:
    explicit LeastImages(std::size_t words) : least_(words) {}

    std::span<const u32> find(const u32* x, std::size_t n, u32 a, u32 b) {
        const std::size_t most = std::min(least_.size(), n);
        held_ = 0;
        std::size_t i = 0;
        for (; i < most; i++) put(a * x[i] + b);
        // Few of the others qualify, so they are checked many at a time.
        for (; i + BLOCK <= n; i += BLOCK) {
            u32 images[BLOCK], least = ~u32{0};
            for (std::size_t k = 0; k < BLOCK; k++) {
                images[k] = a * x[i + k] + b;
                least = std::min(least, images[k]);
            }
            if (least >= least_[most - 1]) continue;
            for (const u32 image : images) replace(image);
        }
        for (; i < n; i++) replace(a * x[i] + b);
        return {least_.data(), held_};
    }

private:
    static constexpr std::size_t BLOCK = 32;

    void put(u32 image) {
        std::size_t place = held_++;
        for (; place > 0 && least_[place - 1] > image; place--) least_[place] = least_[place - 1];
        least_[place] = image;
    }

    void replace(u32 image) {
        if (image >= least_[held_ - 1]) return;
        held_--;
        put(image);
    }

    Buffer<u32> least_;
    std::size_t held_ = 0;
};

// One key per permutation, of the `words` first words of each document.
inline Buffer<u64> word_keys(std::span<const u64> tokens, std::span<const i64> offsets, std::size_t words,
                             std::span<const u32> multipliers, std::span<const u32> increments) {
    const std::size_t documents = offsets.size() - 1, keys = multipliers.size();
    const u64 room = longest(offsets);
    Buffer<u64> distinct(room), out(documents * keys);
    Buffer<u32> x(room);
    DistinctTable table(room);
    LeastImages images(std::min<std::size_t>(words, room));
    for (std::size_t d = 0; d < documents; d++) {
        const u32 n = table.fill(slice(tokens, offsets, d), distinct.data());
        for (u32 i = 0; i < n; i++) x[i] = static_cast<u32>(distinct[i] >> 32);
        for (std::size_t p = 0; p < keys; p++) {
            u64 h = SEED + p;
            if (n > 0) {
                for (const u32 image : images.find(x.data(), n, multipliers[p], increments[p])) h = absorb(h, image);
            }
            out[d * keys + p] = n == 0 ? 0 : std::max<u64>(mix(h), 1);
        }
    }
    return out;
}

// The key of every two of the s ≥ 2 columns of a table of super shingles.
inline Buffer<u64> pair_keys(std::span<const u64> supers, std::size_t s) {
    const std::size_t documents = supers.size() / s;
    Buffer<u64> out(documents * (s * (s - 1) / 2));
    u64* to = out.data();
    for (std::size_t d = 0; d < documents; d++) {
        const u64* row = supers.data() + d * s;
        u64 place = 0;
        for (std::size_t a = 0; a < s; a++) {
            for (std::size_t b = a + 1; b < s; b++) {
                *to++ = std::max<u64>(mix(absorb(absorb(SEED + place++, row[a]), row[b])), 1);
            }
        }
    }
    return out;
}

}  // namespace roughly
