// Distinct tokens, numbered, for lexicons and filters.
//
// Text is read as by the tokeniser, but instead of a hash each token becomes the number of its term, 0, 1, 2, … in the
// order of first occurrence. The bytes of a term are copied at its first occurrence, the only time they are available.
// Frequent terms occur early, so data stored by number is dense where it is used most.
//
//     slots      open addressing, linear probing: (hash, number + 1) per slot, home slot = highest bits of the hash
//     hashes     token hash of each term, by number
//     ends       where each term ends in `text`, by number
//     text       canonical UTF-8 of the terms, one after another
//
// If an array is too small the loop returns what it needs, the caller enlarges it, and the same piece of text is
// processed again: nothing is lost, because numbering a token twice gives the same number.
//
// Hashes and slots are uint64, numbers uint32, positions int64.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>
#include <stdexcept>

#include "tokens.hpp"
#include "words.hpp"

namespace roughly {

inline constexpr u64 LONGEST_TERM = 255;  // bytes of a term that are stored; a longer one is cut and gets an ellipsis
inline constexpr u64 ROOM_FOR_A_TERM = LONGEST_TERM + 3;

enum class Short : int { nothing = 0, numbers = 1, terms = 2, text = 3 };

// Sixty-four less the bits that number the slots, of which there are a power of two, two words each.
inline u64 slot_shift(std::size_t words) { return 64 - static_cast<u64>(std::bit_width(words / 2) - 1); }

// The state of numbering between two calls: document, position in the data, tokens, terms and bytes of text so far.
struct NumberingState {
    i64 document, at, tokens, terms, text;
};

struct VocabularyArrays {
    std::span<u64> slots, hashes;
    std::span<i64> ends;
    std::span<u8> text;

    // The slot of this hash, or the empty one where it belongs: two words.
    u64* find(u64 h, u64 shift, u64 mask) const {
        u64 s = h >> shift;
        while (slots[2 * s + 1] != 0 && slots[2 * s] != h) s = (s + 1) & mask;
        return slots.data() + 2 * s;
    }

    // Append token[0:length] in lower case, cut between two characters if it is long.
    void add(const u8* token, u64 length, u64 h, NumberingState& state) const {
        u64 stop = length;
        if (length > LONGEST_TERM) {
            stop = LONGEST_TERM;
            while ((token[stop] & 0xC0) == 0x80) stop--;
        }
        u8* to = text.data() + state.text;
        for (u64 i = 0; i < stop; i++) *to++ = token[i] < 128 ? token[i] | 32 : token[i];
        if (stop != length) {
            for (const u8 byte : {0xE2, 0x80, 0xA6}) *to++ = byte;
        }
        state.text = to - text.data();
        hashes[static_cast<std::size_t>(state.terms)] = h;
        ends[static_cast<std::size_t>(state.terms)] = state.text;
        state.terms++;
    }
};

// Numbers the tokens of a piece; the count of tokens rises only if all of them fit.
inline Short number_piece(const TokenPiece& piece, const u32* edges, const u64* hashes, const VocabularyArrays& terms,
                          std::span<u32> numbers, NumberingState& state) {
    const u64 count = piece.edges / 2, first = static_cast<u64>(state.tokens);
    if (first + count > numbers.size()) return Short::numbers;
    const u64 shift = slot_shift(terms.slots.size()), mask = terms.slots.size() / 2 - 1;
    for (u64 t = 0; t < count; t++) {
        u64* slot = terms.find(hashes[t], shift, mask);
        if (slot[1] == 0) {
            if (static_cast<u64>(state.terms) == terms.hashes.size()) return Short::terms;
            if (static_cast<u64>(state.text) + ROOM_FOR_A_TERM > terms.text.size()) return Short::text;
            terms.add(piece.text + edges[2 * t], edges[2 * t + 1] - edges[2 * t], hashes[t], state);
            slot[0] = hashes[t];
            slot[1] = static_cast<u64>(state.terms);
        }
        numbers[first + t] = static_cast<u32>(slot[1] - 1);
    }
    state.tokens += static_cast<i64>(count);
    return Short::nothing;
}

// Numbers the tokens of each document from `state` on. `hashes` is scratch for the tokens of one piece.
inline Short number_tokens(std::span<const u8> data, std::span<const i64> offsets, const UnicodeTable& table,
                           std::span<u64> hashes, const VocabularyArrays& terms, std::span<u32> numbers,
                           std::span<i64> token_offsets, NumberingState& state) {
    TokenScratch scratch;
    const auto documents = static_cast<i64>(offsets.size() - 1);
    for (; state.document < documents; state.document++) {
        const auto d = static_cast<std::size_t>(state.document);
        const auto end = static_cast<u64>(offsets[d + 1]);
        u64 at = static_cast<u64>(std::max(offsets[d], state.at));
        while (at < end) {
            state.at = static_cast<i64>(at);
            const u64 stop = piece_end(data.data(), at, end);
            const TokenPiece piece = find_tokens(data, at, stop, table, scratch);
            if (hashes.size() < piece.edges / 2) throw std::invalid_argument("the scratch was made for other texts");
            hash_between(piece, scratch.edges.data(), scratch.longs.data(), hashes.data());
            const Short lacking = number_piece(piece, scratch.edges.data(), hashes.data(), terms, numbers, state);
            if (lacking != Short::nothing) return lacking;
            at = stop;
        }
        state.at = static_cast<i64>(end);
        token_offsets[d + 1] = state.tokens;
    }
    return Short::nothing;
}

// The bytes of the largest piece of a document.
inline u64 largest_piece(std::span<const u8> data, std::span<const i64> offsets) {
    u64 largest = 0;
    for (std::size_t d = 0; d + 1 < offsets.size(); d++) {
        u64 at = static_cast<u64>(offsets[d]);
        const auto end = static_cast<u64>(offsets[d + 1]);
        while (at < end) {
            const u64 stop = piece_end(data.data(), at, end);
            largest = std::max(largest, stop - at);
            at = stop;
        }
    }
    return largest;
}

// Put the first `count` terms into empty slots.
inline void fill_slots(std::span<u64> slots, std::span<const u64> hashes, std::size_t count) {
    const u64 mask = slots.size() / 2 - 1, shift = slot_shift(slots.size());
    for (std::size_t i = 0; i < count; i++) {
        u64 s = hashes[i] >> shift;
        while (slots[2 * s + 1] != 0) s = (s + 1) & mask;
        slots[2 * s] = hashes[i];
        slots[2 * s + 1] = i + 1;
    }
}

}  // namespace roughly
