// Min-wise hashing of shingles, and the keys of bands of min-hashes (Broder 1997, §3).
//
// Ordering o maps the high word x of a shingle's hash to y = a_o·x + b_o mod 2^32, a_o odd. The shingle that comes
// first in a random order is a random sample of the document, and two documents agree on it with probability equal to
// their resemblance. The same holds for the shingle that comes last, and for the first and the last when y is read as a
// signed number, which is the order that starts half way round. So each multiplication gives up to four samples, for
// the price of one and three more comparisons, which take half of the time of four orderings.
//
// Four samples of one ordering are four *different* shingles (but where two documents have hardly more than that
// together), and so are never more alike in whether they agree than samples drawn independently: drawing without
// replacement is negatively associated (Joag-Dev & Proschan 1983). Bands that are built of them find at least as many
// pairs as the formula for independent ones says, provided that no band has two samples of one ordering.
//
// Sample p of k is taken from ordering p mod m, its end p div m: least, greatest, least signed, greatest signed. With
// m = k orderings this is plain min-wise hashing. A band is `rows` consecutive samples, its key a 64-bit hash of them
// and of the band's number, so a key never equals one of another band but by accident.
//
// A document without tokens has no samples: its signature is 2^32 − 1 throughout.
//
// | symbol | name                                                     |
// |--------|----------------------------------------------------------|
// | w      | `size`                                                   |
// | a, b   | `multipliers`, `increments`                              |
// | m      | how many of these there are, the number of orderings     |
// | k      | `samples`, bands · rows                                  |
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>

#include "buffer.hpp"
#include "hashing.hpp"
#include "shingles.hpp"
#include "sorting.hpp"

namespace roughly {

inline constexpr u32 NO_SAMPLE = 0xFFFFFFFF;
inline constexpr u64 MEMORY_BITS = 13;
inline constexpr u64 ENDS = 4;   // samples that an ordering gives
inline constexpr u64 LANES = 4;  // values that are looked at together: one vector of 128 bits

struct Orderings {
    std::span<const u32> multipliers, increments;
};

using Lanes = u32 __attribute__((vector_size(4 * LANES)));
using SignedLanes = i32 __attribute__((vector_size(4 * LANES)));

// The least and the greatest image of x under one ordering, and the same of signed images.
struct OrderingEnds {
    u32 least, greatest, low, high;
};

// The ends of `count` orderings at once: each value is loaded once for all of them. n is a multiple of LANES.
template <u64 count, bool all_four>
void find_ends(const u32* x, u64 n, const u32* multipliers, const u32* increments, OrderingEnds* out) {
    Lanes a[count], b[count], least[count], greatest[count];
    SignedLanes low[count], high[count];
    for (u64 o = 0; o < count; o++) {
        a[o] = Lanes{} + multipliers[o];
        b[o] = Lanes{} + increments[o];
        least[o] = Lanes{} + NO_SAMPLE;
        greatest[o] = Lanes{};
        low[o] = SignedLanes{} + std::numeric_limits<i32>::max();
        high[o] = SignedLanes{} + std::numeric_limits<i32>::min();
    }
    for (u64 i = 0; i < n; i += LANES) {
        Lanes values;
        std::memcpy(&values, x + i, sizeof values);
        for (u64 o = 0; o < count; o++) {
            const Lanes y = a[o] * values + b[o];
            least[o] = y < least[o] ? y : least[o];
            if constexpr (all_four) {
                const SignedLanes s = reinterpret_cast<SignedLanes>(y);
                greatest[o] = y > greatest[o] ? y : greatest[o];
                low[o] = s < low[o] ? s : low[o];
                high[o] = s > high[o] ? s : high[o];
            }
        }
    }
    for (u64 o = 0; o < count; o++) {
        OrderingEnds ends{least[o][0], greatest[o][0], static_cast<u32>(low[o][0]), static_cast<u32>(high[o][0])};
        for (u64 lane = 1; lane < LANES; lane++) {
            ends.least = std::min(ends.least, least[o][lane]);
            ends.greatest = std::max(ends.greatest, greatest[o][lane]);
            ends.low = static_cast<u32>(std::min(static_cast<i32>(ends.low), low[o][lane]));
            ends.high = static_cast<u32>(std::max(static_cast<i32>(ends.high), high[o][lane]));
        }
        out[o] = ends;
    }
}

// Computes the samples of one document after another; holds the scratch memory for documents of up to `longest` tokens.
class MinhashSampler {
public:
    MinhashSampler(u64 size, Orderings orderings, u64 samples, u64 longest_document)
        : size_(size),
          orderings_(orderings),
          samples_(samples),
          values_(longest_document + 1),
          x_(longest_document + 1 + LANES),
          memory_(u64{1} << MEMORY_BITS) {}

    void sample(std::span<const u64> tokens, u32* out) {
        const u64 n = without_repeats(shingles(tokens, size_, values_.data()));
        if (n == 0) {
            std::fill_n(out, samples_, NO_SAMPLE);
        } else if (samples_ == orderings_.multipliers.size()) {
            find<8, false>(n, out);
        } else {
            find<4, true>(n, out);
        }
    }

private:
    // Goes through the orderings `step` at a time.
    template <u64 step, bool all_four>
    void find(u64 n, u32* out) {
        const u64 m = orderings_.multipliers.size();
        const u32 *a = orderings_.multipliers.data(), *b = orderings_.increments.data();
        const auto put = [&](u64 o, const OrderingEnds& ends) {
            const u32 found[ENDS] = {ends.least, ends.greatest, ends.low, ends.high};
            for (u64 end = 0; end < (all_four ? ENDS : 1) && end * m + o < samples_; end++) out[end * m + o] = found[end];
        };
        OrderingEnds ends[step];
        u64 o = 0;
        for (; o + step <= m; o += step) {
            find_ends<step, all_four>(x_.data(), n, a + o, b + o, ends);
            for (u64 k = 0; k < step; k++) put(o + k, ends[k]);
        }
        for (; o < m; o++) {
            find_ends<1, all_four>(x_.data(), n, a + o, b + o, ends);
            put(o, ends[0]);
        }
    }

    // The high words of values_[:n] into x_, most of the repeated ones left out, then as many of the first as make the
    // number a multiple of LANES; returns it.
    //
    // Repeats do not change a minimum, and a fifth of the shingles of real pages are repeats. `memory_` holds one
    // recent word for each value of the low bits, which finds nearly all of them at a hundredth of the minima's cost.
    u64 without_repeats(u64 n) {
        if (n == 0) return 0;
        const u64 size = u64{1} << std::min(bit_length(n), MEMORY_BITS);
        const u32 mask = static_cast<u32>(size - 1), first = static_cast<u32>(values_[0] >> 32);
        std::fill_n(memory_.data(), size, first);
        x_[0] = first;
        u64 count = 1;
        for (u64 i = 1; i < n; i++) {
            const u32 word = static_cast<u32>(values_[i] >> 32);
            x_[count] = word;
            count += memory_[word & mask] != word;
            memory_[word & mask] = word;
        }
        while (count % LANES != 0) x_[count++] = first;
        return count;
    }

    u64 size_;
    Orderings orderings_;
    u64 samples_;
    Buffer<u64> values_;
    Buffer<u32> x_, memory_;
};

// The samples of each document, `samples` in a row.
inline Buffer<u32> signatures(std::span<const u64> tokens, std::span<const i64> offsets, u64 size,
                              Orderings orderings, u64 samples) {
    const std::size_t n = offsets.size() - 1;
    Buffer<u32> out(n * samples);
    MinhashSampler sampler(size, orderings, samples, longest(offsets));
    for (std::size_t d = 0; d < n; d++) sampler.sample(slice(tokens, offsets, d), out.data() + d * samples);
    return out;
}

// The key of each band of `rows` of the samples, `bands` in a row.
inline void hash_bands(const u32* samples, u64 bands, u64 rows, u64* out) {
    for (u64 band = 0; band < bands; band++) {
        u64 h = SEED + band;
        for (u64 row = band * rows; row < (band + 1) * rows; row++) h = absorb(h, samples[row]);
        out[band] = mix(h);
    }
}

// The key of each band of each document, `bands` in a row.
inline Buffer<u64> band_keys(std::span<const u64> tokens, std::span<const i64> offsets, u64 size, Orderings orderings,
                             u64 bands, u64 rows) {
    const std::size_t n = offsets.size() - 1;
    Buffer<u64> out(n * bands);
    Buffer<u32> samples(bands * rows);
    MinhashSampler sampler(size, orderings, bands * rows, longest(offsets));
    for (std::size_t d = 0; d < n; d++) {
        sampler.sample(slice(tokens, offsets, d), samples.data());
        hash_bands(samples.data(), bands, rows, out.data() + d * bands);
    }
    return out;
}

}  // namespace roughly
