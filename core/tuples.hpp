// Keys made of several samples of a document: tuples of words, and pairs of super shingles.
//
// `word_keys` (Haveliwala 2000, as Kołcz 2008, §2 and §4 describe it): permutation p orders all words at random; the key
// is a hash of the k words of the document that come first. Words are distinct tokens, ordered by a_p·x + b_p mod 2^32
// of the high word x of their hash.
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
#include "sorting.hpp"
#include "words.hpp"

namespace roughly {

// The least few of many numbers, in order; a number that comes twice stands twice.
class LeastFew {
public:
    explicit LeastFew(std::size_t most) : least_(most) {}

    void clear() { held_ = 0; }
    const u32* begin() const { return least_.data(); }
    const u32* end() const { return least_.data() + held_; }

    void put(u32 value) {
        if (held_ == least_.size()) {
            if (value >= least_[held_ - 1]) return;
            held_--;
        }
        std::size_t place = held_++;
        for (; place > 0 && least_[place - 1] > value; place--) least_[place] = least_[place - 1];
        least_[place] = value;
    }

private:
    Buffer<u32> least_;
    std::size_t held_ = 0;
};

// One key per permutation, of the `words` first words of each document.
inline Buffer<u64> word_keys(std::span<const u64> tokens, std::span<const i64> offsets, std::size_t words,
                             std::span<const u32> multipliers, std::span<const u32> increments) {
    const std::size_t documents = offsets.size() - 1, keys = multipliers.size();
    const u64 room = longest(offsets) + 1;  // one more: put_distinct writes ahead
    Buffer<u64> sorted(room), distinct(room), out(documents * keys);
    Buffer<u32> counts(SORT_COUNTS), x(room);
    LeastFew first(std::min<std::size_t>(words, room));
    for (std::size_t d = 0; d < documents; d++) {
        const std::span<const u64> document = slice(tokens, offsets, d);
        sort_hashes(document, sorted.data(), counts.data());
        const u64 n = put_distinct({sorted.data(), document.size()}, distinct.data(), 0);
        for (u64 i = 0; i < n; i++) x[i] = static_cast<u32>(distinct[i] >> 32);
        for (std::size_t p = 0; p < keys; p++) {
            first.clear();
            for (u64 i = 0; i < n; i++) first.put(multipliers[p] * x[i] + increments[p]);
            u64 h = SEED + p;
            for (const u32 image : first) h = absorb(h, image);
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
