// Terms counted by number, replaced, classified, and looked up in a lexicon.
//
// A lexicon on disk is looked up by `look_up`: hashes in order, and a directory with the place of the first hash for
// each value of their highest bits, so that a bucket has one or none. Hashes are uniform, so only malice makes it
// slow.
//
// Hashes are uint64, numbers of terms uint32, positions int64; a count is last document << 32 | document frequency.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "prefetch.hpp"
#include "words.hpp"

namespace roughly {

inline constexpr u32 DROPPED = 0xFFFFFFFF;

// counts[t] += 1 for each document that contains term t; documents are numbered from `first_document`, 1 or more.
inline void count_documents(std::span<const u32> numbers, std::span<const i64> offsets, u64 first_document,
                            u64* counts) {
    constexpr u64 LOW = 0xFFFFFFFF;
    for (std::size_t d = 0; d + 1 < offsets.size(); d++) {
        const u64 document = (first_document + d) << 32;
        for (i64 i = offsets[d]; i < offsets[d + 1]; i++) {
            u64& count = counts[numbers[static_cast<std::size_t>(i)]];
            count = document | ((count & LOW) + ((count ^ document) > LOW));
        }
    }
}

// Replace each term by its target, and leave out those whose target is DROPPED. `out` has room for one more than
// there are numbers.
inline void put_targets(std::span<const u32> numbers, std::span<const i64> offsets, const u32* targets, u32* out,
                        std::span<i64> out_offsets) {
    u64 n = 0;
    for (std::size_t d = 0; d + 1 < offsets.size(); d++) {
        const u32* end = numbers.data() + offsets[d + 1];
        for (const u32* number = numbers.data() + offsets[d]; number < end; number++) {
            const u32 target = targets[*number];
            out[n] = target;
            n += target != DROPPED;
        }
        out_offsets[d + 1] = static_cast<i64>(n);
    }
}

// text[starts[i]:ends[i]], one after another.
inline void gather_text(const u8* text, std::span<const i64> starts, std::span<const i64> ends, u8* out) {
    for (std::size_t i = 0; i < starts.size(); i++) {
        const auto length = static_cast<std::size_t>(ends[i] - starts[i]);
        if (length > 0) std::memcpy(out, text + starts[i], length);
        out += length;
    }
}

inline constexpr u8 PLAIN_LETTERS = 0, PLAIN = 1, OTHER = 2;

// For each term, whether it is a–z only, a–z and digits, or has other characters.
inline void classify_terms(const u8* text, std::span<const i64> ends, u8* out) {
    i64 at = 0;
    for (std::size_t t = 0; t < ends.size(); t++) {
        u8 all = 0;
        bool digits = false;
        for (; at < ends[t]; at++) {
            all |= text[at];
            digits |= text[at] <= 96;
        }
        out[t] = all > 127 ? OTHER : digits ? PLAIN : PLAIN_LETTERS;
        at = ends[t];
    }
}

// The count of each wanted hash among the ascending `hashes`, or 0; never reads outside, whatever a file says. The
// directory has 2^bits + 1 entries, bits = 64 − shift.
inline void look_up(std::span<const u64> wanted, std::span<const u64> hashes, std::span<const u32> directory,
                    std::span<const u32> counts, u64 shift, u32* out) {
    const u64 terms = hashes.size();
    constexpr std::size_t AHEAD = 16;  // a lexicon is larger than any cache: prefetch what will be needed
    for (std::size_t i = 0; i < wanted.size(); i++) {
        if (i + 2 * AHEAD < wanted.size()) prefetch(&directory[wanted[i + 2 * AHEAD] >> shift]);
        if (i + AHEAD < wanted.size()) {
            const u64 soon = directory[wanted[i + AHEAD] >> shift];
            if (soon < terms) {
                prefetch(&hashes[soon]);
                prefetch(&counts[soon]);
            }
        }
        const u64 h = wanted[i], bucket = h >> shift;
        const u64 end = std::min<u64>(directory[bucket + 1], terms);
        u64 at = directory[bucket];
        while (at < end && hashes[at] != h) at++;
        out[i] = at < end ? counts[at] : 0;
    }
}

}  // namespace roughly
