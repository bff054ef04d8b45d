// Sorting of hashes, which is faster than sorting in general because they are uniform.
//
// A counting pass over the highest bits leaves about one value per bucket, and insertion sort puts the few that share
// one in order. Buckets that are nevertheless large (a shingle repeated thousands of times, a document of many
// megabytes) are heap-sorted, so there is no quadratic case.
#pragma once

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

#include "buffer.hpp"
#include "words.hpp"

namespace roughly {

inline constexpr u64 MOST_BITS = 14;
inline constexpr u64 CROWDED = 24;
inline constexpr std::size_t SORT_COUNTS = (std::size_t{1} << MOST_BITS) + 1;  // size of the scratch `counts`

// The number of bits of n; 0 for 0.
inline constexpr u64 bit_length(u64 n) { return static_cast<u64>(std::bit_width(n)); }

template <typename T>
void insertion_sort(T* first, T* last) {
    if (first == last) return;
    for (T* i = first + 1; i < last; i++) {
        const T x = *i;
        T* j = i;
        for (; j > first && j[-1] > x; j--) *j = j[-1];
        *j = x;
    }
}

template <typename T>
void heap_sort(T* first, T* last) {
    std::make_heap(first, last);
    std::sort_heap(first, last);
}

// Put the values of a, which should be uniform, in order into out; `counts` is scratch of SORT_COUNTS.
inline void sort_hashes(std::span<const u64> a, u64* out, u32* counts) {
    const std::size_t n = a.size();
    const u64 bits = std::clamp<u64>(bit_length(n), 1, MOST_BITS), shift = 64 - bits;
    const std::size_t buckets = std::size_t{1} << bits;
    std::fill_n(counts, buckets + 1, 0);
    for (const u64 x : a) counts[(x >> shift) + 1]++;
    u32 most = 0;
    for (std::size_t b = 0; b < buckets; b++) {
        most = std::max(most, counts[b + 1]);
        counts[b + 1] += counts[b];
    }
    for (const u64 x : a) out[counts[x >> shift]++] = x;
    if (most <= CROWDED) {
        insertion_sort(out, out + n);
        return;
    }
    u64 start = 0;
    for (std::size_t b = 0; b < buckets; b++) {
        const u64 end = counts[b];
        if (end - start > CROWDED) {
            heap_sort(out + start, out + end);
        } else if (end > start) {
            insertion_sort(out + start, out + end);
        }
        start = end;
    }
}

// Put values in order, whatever they are; for short arrays that are not uniform.
template <typename T>
void sort_in_place(std::span<T> a) {
    if (a.size() <= CROWDED) {
        insertion_sort(a.data(), a.data() + a.size());
    } else {
        heap_sort(a.data(), a.data() + a.size());
    }
}

// Copy the distinct values of the sorted a to out[at], out[at + 1], …; returns the new end. Writes one value ahead.
inline u64 put_distinct(std::span<const u64> a, u64* out, u64 at) {
    if (a.empty()) return at;
    out[at++] = a[0];
    for (std::size_t i = 1; i < a.size(); i++) {
        out[at] = a[i];
        at += a[i] != a[i - 1];
    }
    return at;
}

}  // namespace roughly
