// The slow path of the tokeniser: text with bytes above 127 rewritten in canonical form, as UTF-8.
//
// Every character becomes its canonical sequence (`classes` says how the table holds it), marks are put into canonical
// order, and a space is inserted wherever a token ends without a separator. In the result a byte belongs to a token
// exactly if it is an ASCII letter or digit or above 127, so the fast passes apply to it. ASCII letters keep their
// case: hashing lowers them.
//
// The output must have room for GROWTH bytes per byte of input and sixteen more.
//
// The state of rewriting is five numbers:
//
// | name  | meaning                                                |
// |-------|--------------------------------------------------------|
// | n     | length of the output so far                            |
// | last  | class of the last character that is not a mark         |
// | base  | position of that character in the output               |
// | run   | where the marks begin that may still change places     |
// | marks | how many these are                                     |
#pragma once

#include <bit>
#include <cstring>

#include "classes.hpp"
#include "simd.hpp"
#include "utf8.hpp"
#include "words.hpp"

namespace roughly {

inline constexpr u8 SPACE = 32;

// Start and end, in bytes of the text, of the character that a byte of canonical form stems from.
struct Source {
    u32 start, end;
};

// Copies ASCII from p up to the first byte above 127, sixteen bytes at a time; returns how many bytes.
// The vector with that byte is copied whole: what is too much will be written over.
inline u64 copy_ascii(const u8* p, u64 left, u8* out) {
    u64 at = 0;
    for (; at + 16 <= left; at += 16) {
        store16(out + at, load16(p + at));
        const u64 low = load(p + at) & HIGH_BITS, high = load(p + at + 8) & HIGH_BITS;
        if ((low | high) != 0) {
            return at + static_cast<u64>(low != 0 ? std::countr_zero(low) : 64 + std::countr_zero(high)) / 8;
        }
    }
    for (; at < left && p[at] < 128; at++) out[at] = p[at];
    return at;
}

// Writes a mark after those of its run out[run:n] that do not sort after it; returns the new end.
inline u64 put_in_order(u8* out, u64 n, u64 run, u32 cp, u32 order, const UnicodeTable& table) {
    u64 place = n;
    while (place > run) {
        u64 before = place - 1;
        while (continues(out[before])) before--;
        if ((table[decode(out + before, place - before).cp] & PAYLOAD) <= order) break;
        place = before;
    }
    u8 mark[4];
    const u64 size = put(mark, cp);
    std::memmove(out + place + size, out + place, n - place);
    std::memcpy(out + place, mark, size);
    return n + size;
}

// Canonical form of text[0:length] into out; returns its length.
// With `noting`, sources[i] becomes the place of the character that byte i of the output stems from.
template <bool noting>
u64 canonicalise(const u8* text, u64 length, const UnicodeTable& table, u8* out, [[maybe_unused]] Source* sources) {
    u64 at = 0, n = 0, base = 0, run = 0, marks = 0;
    u32 last = SEPARATOR;
    while (at < length) {
        const u64 start = at;
        [[maybe_unused]] const u64 first = n;
        if (text[at] < 128) {
            if (last == SINGLE && in_word(text[at])) out[n++] = SPACE;
            const u64 copied = copy_ascii(text + at, length - at, out + n);
            if constexpr (noting) {
                for (u64 k = 0; k < copied; k++) {
                    sources[n + k] = {static_cast<u32>(start + k), static_cast<u32>(start + k + 1)};
                }
            }
            at += copied;
            n += copied;
            last = in_word(out[n - 1]) ? WORD : SEPARATOR;
            base = n - 1;
            run = n;
            marks = 0;
            continue;
        }
        auto [cp, size] = decode(text + at, length - at);
        at += size;
        u32 entry = table[cp], index = 0, count = 1;
        if (entry >> 24 == SEQUENCE) {
            index = entry & PAYLOAD;
            count = table.stage2[index];
        }
        for (u32 k = 0; k < count; k++) {
            if (index != 0) {
                cp = table.stage2[index + 1 + k];
                entry = table[cp];
            }
            const u32 kind = entry >> 24;
            if (kind == IGNORED || kind == MARK) {
                if (kind == IGNORED || last == SEPARATOR) continue;
                if (cp == DOT_ABOVE && (out[base] | 32) == 'i') {
                    if constexpr (noting) sources[n - 1].end = static_cast<u32>(at);
                    continue;
                }
                const u32 order = entry & PAYLOAD;
                if (order == 0 || marks == LONGEST_RUN) {
                    n += put(out + n, cp);
                    run = n;
                    marks = 0;
                } else {
                    n = marks == 0 ? n + put(out + n, cp) : put_in_order(out, n, run, cp, order, table);
                    marks++;
                }
                continue;
            }
            if (kind == SEPARATOR || kind == SINGLE || last == SINGLE) out[n++] = SPACE;
            base = n;
            if (kind != SEPARATOR) n += put(out + n, (cp + entry) & DELTA);
            last = kind;
            run = n;
            marks = 0;
        }
        if constexpr (noting) {
            for (u64 k = first; k < n; k++) sources[k] = {static_cast<u32>(start), static_cast<u32>(at)};
        }
    }
    return n;
}

}  // namespace roughly
