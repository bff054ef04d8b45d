// Which runs of tokens may occur twice: fingerprints by winnowing, a filter of two bits per slot, and a bitmap of starts.
//
// A *gram* is a run of tokens of fixed size. Its hash is a polynomial modulo 2^64, which rolls from one gram to the next:
//
//     h(x) = Σ t_{x+y}·B^{size−1−y}          h(x+1) = B·h(x) + t_{x+size} − B^size·t_x
//
// Winnowing (Schleimer, Wilkerson, Aiken 2003) selects from every window of w consecutive grams of k tokens the one
// with the least mixed hash, the rightmost of several. What is selected depends on the tokens of the window alone, so
// two equal runs of w + k − 1 tokens select the same gram at the same place: no run of that length is missed. A random
// text has 2 / (w + 1) fingerprints per token.
//
// Each fingerprint sets a bit of `once` at its slot, or of `twice` where that is set already. A run of `least` =
// w + k − 1 tokens occurs twice only if the fingerprint in it is in `twice`; the starts of all such runs are marked in a
// bitmap with one bit per token of the collection. What is marked by chance is dropped later, by the grams of `least`
// tokens themselves. Bits are set by atomic operations, and which bits are set in the end does not depend on the order.
#pragma once

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "hashing.hpp"
#include "words.hpp"

namespace roughly {

// Sizes of winnowing: grams of k tokens, in windows of w grams.
struct Winnowing {
    u64 k, w;

    u64 least() const { return w + k - 1; }
};

// The hash of one gram after another.
class RollingHash {
public:
    explicit RollingHash(u64 size) : size_(size) {
        for (u64 i = 0; i < size; i++) lead_ *= A;
    }

    // The hash of the gram at t[0:size].
    u64 begin(const u32* t) {
        hash_ = 0;
        for (u64 i = 0; i < size_; i++) hash_ = hash_ * A + t[i];
        return hash_;
    }

    // The hash of the gram at t[0:size], if that of t[−1:size−1] was the last.
    u64 roll(const u32* t) { return hash_ = hash_ * A + t[size_ - 1] - lead_ * t[-1]; }

private:
    u64 size_, lead_ = 1, hash_ = 0;
};

// Calls found(place, hash) for each fingerprint of a document, in order.
template <typename Found>
void winnow(std::span<const u32> tokens, Winnowing sizes, std::vector<u64>& room, Found&& found) {
    if (tokens.size() < sizes.least()) return;
    const u64 grams = tokens.size() - sizes.k + 1, mask = std::bit_ceil(sizes.w) - 1;
    room.resize(mask + 1);  // the mixed hash of gram i at i & mask
    RollingHash rolling(sizes.k);
    u64 best = 0, last = grams;
    for (u64 i = 0; i < grams; i++) {
        const u64 h = mix(i == 0 ? rolling.begin(tokens.data()) : rolling.roll(tokens.data() + i));
        room[i & mask] = h;
        if (i >= best + sizes.w) {
            best = i - sizes.w + 1;
            for (u64 j = best + 1; j <= i; j++) {
                if (room[j & mask] <= room[best & mask]) best = j;
            }
        } else if (h <= room[best & mask]) {
            best = i;
        }
        if (i + 1 >= sizes.w && best != last) {
            found(best, room[best & mask]);
            last = best;
        }
    }
}

// Sets bits; returns the word as it was before. Safe on several threads.
inline u64 set_bits(u64& word, u64 bits) { return __atomic_fetch_or(&word, bits, __ATOMIC_RELAXED); }

inline bool has_bit(std::span<const u64> words, u64 bit) { return (words[bit >> 6] >> (bit & 63) & 1) != 0; }

// The slot of a mixed hash in a filter of a power of two of words.
inline u64 slot_of(u64 h, std::span<const u64> words) { return h & (64 * words.size() - 1); }

// Marks a hash as seen; where it was seen before, as seen twice.
inline void mark_seen(u64 h, std::span<u64> once, std::span<u64> twice) {
    const u64 slot = slot_of(h, once), bit = u64{1} << (slot & 63);
    if (set_bits(once[slot >> 6], bit) & bit) set_bits(twice[slot >> 6], bit);
}

// Sets the bits from `first` to `last`, both included.
inline void set_range(std::span<u64> words, u64 first, u64 last) {
    for (u64 word = first >> 6; word <= last >> 6; word++) {
        u64 bits = ALL_BITS;
        if (word == first >> 6) bits &= ALL_BITS << (first & 63);
        if (word == last >> 6) bits &= ALL_BITS >> (63 - (last & 63));
        if ((__atomic_load_n(&words[word], __ATOMIC_RELAXED) & bits) != bits) set_bits(words[word], bits);
    }
}

// A collection: document d has tokens[offsets[d]:offsets[d + 1]].
struct TokenRows {
    std::span<const u32> tokens;
    std::span<const i64> offsets;

    std::span<const u32> document(std::size_t d) const {
        return tokens.subspan(static_cast<u64>(offsets[d]), static_cast<u64>(offsets[d + 1] - offsets[d]));
    }
};

// Marks the fingerprints of documents begin … end − 1.
inline void mark_fingerprints(TokenRows rows, std::size_t begin, std::size_t end, Winnowing sizes,
                              std::span<u64> once, std::span<u64> twice) {
    std::vector<u64> room;
    for (std::size_t d = begin; d < end; d++) {
        winnow(rows.document(d), sizes, room, [&](u64, u64 h) { mark_seen(h, once, twice); });
    }
}

// Marks the starts of runs of `least` tokens that hold a fingerprint of the filter.
inline void mark_starts(TokenRows rows, std::size_t begin, std::size_t end, Winnowing sizes,
                        std::span<const u64> filter, std::span<u64> starts) {
    std::vector<u64> room;
    const u64 least = sizes.least();
    for (std::size_t d = begin; d < end; d++) {
        const auto tokens = rows.document(d);
        const u64 base = static_cast<u64>(rows.offsets[d]);
        winnow(tokens, sizes, room, [&](u64 place, u64 h) {
            if (!has_bit(filter, slot_of(h, filter))) return;
            const u64 first = place + sizes.k > least ? place + sizes.k - least : 0;
            set_range(starts, base + first, base + std::min(place, tokens.size() - least));
        });
    }
}

// Calls found(position, mixed hash) for the gram of `least` tokens at every marked start of documents begin … end − 1.
template <typename Found>
void for_each_start(TokenRows rows, std::size_t begin, std::size_t end, u64 least, std::span<const u64> starts,
                    Found&& found) {
    RollingHash rolling(least);
    for (std::size_t d = begin; d < end; d++) {
        const u64 from = static_cast<u64>(rows.offsets[d]), to = static_cast<u64>(rows.offsets[d + 1]);
        if (to - from < least) continue;
        u64 next = ALL_BITS;  // the position to which the last hash can roll
        for (u64 at = from; at + least <= to;) {
            const u64 word = __atomic_load_n(&starts[at >> 6], __ATOMIC_RELAXED) >> (at & 63);
            if (word == 0) {
                at = (at | 63) + 1;
                continue;
            }
            at += static_cast<u64>(std::countr_zero(word));
            if (at + least > to) break;
            const u32* t = rows.tokens.data() + at;
            found(at, mix(at == next ? rolling.roll(t) : rolling.begin(t)));
            next = ++at;
        }
    }
}

// Marks the grams at the marked starts.
inline void mark_grams(TokenRows rows, std::size_t begin, std::size_t end, u64 least, std::span<const u64> starts,
                       std::span<u64> once, std::span<u64> twice) {
    for_each_start(rows, begin, end, least, starts, [&](u64, u64 h) { mark_seen(h, once, twice); });
}

// Clears the marked starts whose gram is not in `twice`: it occurs once.
inline void clear_starts(TokenRows rows, std::size_t begin, std::size_t end, u64 least, std::span<const u64> twice,
                         std::span<u64> starts) {
    for_each_start(rows, begin, end, least, starts, [&](u64 at, u64 h) {
        if (!has_bit(twice, slot_of(h, twice))) {
            __atomic_fetch_and(&starts[at >> 6], ~(u64{1} << (at & 63)), __ATOMIC_RELAXED);
        }
    });
}

}  // namespace roughly
