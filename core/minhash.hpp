// Min-wise hashing of shingles, and the keys of bands of min-hashes (Broder 1997, §3).
//
// Ordering o maps the high word x of a shingle's hash to y = a_o·x + b_o mod 2^32, a_o odd. The shingle that comes
// first in a random order is a random sample of the document, and two documents agree on it with probability equal to
// their resemblance. The same holds for the shingle that comes last, and for the first and the last when y is read as a
// signed number, which is the order that starts half way round. So each multiplication gives up to four samples, at the
// cost of one and three more comparisons: half the time of four orderings.
//
// Four samples of one ordering are four *different* shingles (unless two documents have hardly more than that
// together), and so are never more alike in whether they agree than samples drawn independently: drawing without
// replacement is negatively associated (Joag-Dev & Proschan 1983). Bands of such samples find at least as many pairs as
// the formula for independent ones says, provided that no band has two samples of one ordering.
//
// Sample p of k is taken from ordering p mod m, its end p div m: least, greatest, least signed, greatest signed. With
// m = k orderings this is plain min-wise hashing. A band is `rows` consecutive samples, its key a 64-bit hash of them
// and of the band's number, so keys of different bands are equal only by accident.
//
// A document without tokens has no samples: its signature is 2^32 − 1 throughout.
//
// | symbol | name                                                     |
// |--------|----------------------------------------------------------|
// | w      | `size`                                                   |
// | a, b   | `multipliers`, `increments`                              |
// | m      | the number of orderings                                  |
// | k      | `samples`, bands · rows                                  |
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>

#include "buffer.hpp"
#include "hashing.hpp"
#include "processor.hpp"
#include "shingles.hpp"
#include "sorting.hpp"

namespace roughly {

inline constexpr u32 NO_SAMPLE = 0xFFFFFFFF;
inline constexpr u64 MEMORY_BITS = 13;
inline constexpr u64 ENDS = 4;  // samples per ordering
#if defined(__x86_64__)
inline constexpr u64 MOST_LANES = 16;  // most values processed together: one vector of 512 bits
#else
inline constexpr u64 MOST_LANES = 4;
#endif

struct Orderings {
    std::span<const u32> multipliers, increments;
};

// The least and the greatest image of x under one ordering, and the same of signed images.
struct OrderingEnds {
    u32 least, greatest, low, high;
};

// The images of a document's n values x under m orderings; n is a multiple of MOST_LANES.
struct Images {
    const u32* x;
    u64 n;
    const u32 *multipliers, *increments;
    u64 m;
};

template <typename T, u64 lanes>
struct VectorOf {
    typedef T type __attribute__((vector_size(4 * lanes)));
};
template <typename T, u64 lanes>
using Vector = typename VectorOf<T, lanes>::type;

// The least or the greatest of all lanes, by halves.
template <typename T, u64 lanes, bool least>
ROUGHLY_INLINE T end_of(const Vector<T, lanes>& vector) {
    if constexpr (lanes == 1) {
        return vector[0];
    } else {
        Vector<T, lanes / 2> a, b;
        std::memcpy(&a, &vector, sizeof a);
        std::memcpy(&b, reinterpret_cast<const char*>(&vector) + sizeof a, sizeof b);
        const Vector<T, lanes / 2> half = least ? (a < b ? a : b) : (a > b ? a : b);
        return end_of<T, lanes / 2, least>(half);
    }
}

// The ends of `count` orderings at once: each value is loaded once for all of them.
template <u64 lanes, u64 count, bool all_four>
ROUGHLY_INLINE void find_ends(const Images& images, u64 first, OrderingEnds* out) {
    using Lanes = Vector<u32, lanes>;
    using SignedLanes = Vector<i32, lanes>;
    Lanes a[count], b[count], least[count], greatest[count];
    SignedLanes low[count], high[count];
    for (u64 o = 0; o < count; o++) {
        a[o] = Lanes{} + images.multipliers[first + o];
        b[o] = Lanes{} + images.increments[first + o];
        least[o] = Lanes{} + NO_SAMPLE;
        greatest[o] = Lanes{};
        low[o] = SignedLanes{} + std::numeric_limits<i32>::max();
        high[o] = SignedLanes{} + std::numeric_limits<i32>::min();
    }
    for (u64 i = 0; i < images.n; i += lanes) {
        Lanes values;
        std::memcpy(&values, images.x + i, sizeof values);
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
        OrderingEnds& ends = out[first + o];
        ends.least = end_of<u32, lanes, true>(least[o]);
        if constexpr (all_four) {
            ends.greatest = end_of<u32, lanes, false>(greatest[o]);
            ends.low = static_cast<u32>(end_of<i32, lanes, true>(low[o]));
            ends.high = static_cast<u32>(end_of<i32, lanes, false>(high[o]));
        }
    }
}

// The ends of all orderings, `count` at a time, as many as the processor has registers for.
template <u64 lanes, u64 count, bool all_four>
ROUGHLY_INLINE void find_all_ends(const Images& images, OrderingEnds* out) {
    u64 o = 0;
    for (; o + count <= images.m; o += count) find_ends<lanes, count, all_four>(images, o, out);
    for (; o < images.m; o++) find_ends<lanes, 1, all_four>(images, o, out);
}

#if defined(__x86_64__)
template <bool all_four>
ROUGHLY_AVX2 void find_ends_avx2(const Images& images, OrderingEnds* out) {
    find_all_ends<8, all_four ? 2 : 4, all_four>(images, out);
}
template <bool all_four>
ROUGHLY_AVX512 void find_ends_avx512(const Images& images, OrderingEnds* out) {
    find_all_ends<16, all_four ? 4 : 8, all_four>(images, out);
}
#endif

template <bool all_four>
void find_ends(const Images& images, OrderingEnds* out) {
#if defined(__x86_64__)
    const VectorLevel level = vector_level();
    if (level == VectorLevel::avx512) return find_ends_avx512<all_four>(images, out);
    if (level == VectorLevel::avx2) return find_ends_avx2<all_four>(images, out);
#endif
    find_all_ends<4, all_four ? 4 : 8, all_four>(images, out);
}

// Computes the samples of one document after another; holds scratch memory for the longest document so far.
class MinhashSampler {
public:
    MinhashSampler(u64 size, Orderings orderings, u64 samples, u64 longest_document = 0)
        : size_(size),
          orderings_(orderings),
          samples_(samples),
          values_(longest_document + 1),
          x_(longest_document + 1 + MOST_LANES),
          memory_(u64{1} << MEMORY_BITS),
          ends_(orderings.multipliers.size()) {}

    void sample(std::span<const u64> tokens, u32* out) {
        if (values_.size() <= tokens.size()) {
            values_.resize(tokens.size() + tokens.size() / 4 + 1);
            x_.resize(values_.size() + MOST_LANES);
        }
        const u64 n = without_repeats(shingles(tokens, size_, values_.data()));
        if (n == 0) {
            std::fill_n(out, samples_, NO_SAMPLE);
        } else if (samples_ == orderings_.multipliers.size()) {
            find<false>(n, out);
        } else {
            find<true>(n, out);
        }
    }

private:
    template <bool all_four>
    void find(u64 n, u32* out) {
        const u64 m = orderings_.multipliers.size();
        find_ends<all_four>({x_.data(), n, orderings_.multipliers.data(), orderings_.increments.data(), m}, ends_.data());
        for (u64 o = 0; o < m; o++) {
            const u32 found[ENDS] = {ends_[o].least, ends_[o].greatest, ends_[o].low, ends_[o].high};
            for (u64 end = 0; end < (all_four ? ENDS : 1) && end * m + o < samples_; end++) out[end * m + o] = found[end];
        }
    }

    // The high words of values_[:n] into x_, most of the repeated ones left out, then as many of the first as make the
    // number a multiple of MOST_LANES; returns it.
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
        while (count % MOST_LANES != 0) x_[count++] = first;
        return count;
    }

    u64 size_;
    Orderings orderings_;
    u64 samples_;
    Buffer<u64> values_;
    Buffer<u32> x_, memory_;
    Buffer<OrderingEnds> ends_;
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
