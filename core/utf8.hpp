// UTF-8 in and out, one code point at a time.
//
// Malformed input is not an error: a byte that begins no well-formed character reads as U+FFFD, a separator, and only
// that byte is skipped. Overlong forms are malformed; surrogates are read as they are.
#pragma once

#include <algorithm>

#include "words.hpp"

namespace roughly {

struct Decoded {
    u32 cp;
    u64 size;  // in bytes
};

inline constexpr bool continues(u8 byte) { return (byte & 0xC0) == 0x80; }

// The code point at p[0], of which `left` > 0 bytes can be read; (U+FFFD, 1) for a malformed byte.
inline Decoded decode(const u8* p, u64 left) {
    const u32 c = p[0];
    const auto six = [p](int i) { return u32{p[i]} & 0x3F; };
    if (0xC2 <= c && c < 0xE0 && left > 1 && continues(p[1])) return {(c & 0x1F) << 6 | six(1), 2};
    if (0xE0 <= c && c < 0xF0 && left > 2 && continues(p[1]) && continues(p[2])) {
        const u32 cp = (c & 0x0F) << 12 | six(1) << 6 | six(2);
        if (cp >= 0x800) return {cp, 3};
    }
    if (0xF0 <= c && c < 0xF5 && left > 3 && continues(p[1]) && continues(p[2]) && continues(p[3])) {
        const u32 cp = (c & 0x07) << 18 | six(1) << 12 | six(2) << 6 | six(3);
        if (0x10000 <= cp && cp <= 0x10FFFF) return {cp, 4};
    }
    return {0xFFFD, 1};
}

// Whether p[0:length] is well-formed UTF-8, surrogates not among it; ASCII is passed over 32 bytes at a time.
inline bool is_utf8(const u8* p, u64 length) {
    for (u64 at = 0; at < length;) {
        const auto is_ascii = [p](u64 i) {
            return ((load(p + i) | load(p + i + 8) | load(p + i + 16) | load(p + i + 24)) & HIGH_BITS) == 0;
        };
        while (at + 32 <= length && is_ascii(at)) at += 32;
        const u64 stop = std::min(at + 32, length);
        while (at < stop) {
            if (p[at] < 0x80) {
                at++;
                continue;
            }
            const Decoded found = decode(p + at, length - at);
            if (found.size == 1 || (found.cp >= 0xD800 && found.cp <= 0xDFFF)) return false;
            at += found.size;
        }
    }
    return true;
}

// Write a code point as UTF-8 at p; returns its length, 1 to 4.
inline u64 put(u8* p, u32 cp) {
    const auto tail = [](u32 bits) { return static_cast<u8>(0x80 | (bits & 0x3F)); };
    if (cp < 0x80) {
        p[0] = static_cast<u8>(cp);
        return 1;
    }
    if (cp < 0x800) {
        p[0] = static_cast<u8>(0xC0 | cp >> 6);
        p[1] = tail(cp);
        return 2;
    }
    if (cp < 0x10000) {
        p[0] = static_cast<u8>(0xE0 | cp >> 12);
        p[1] = tail(cp >> 6);
        p[2] = tail(cp);
        return 3;
    }
    p[0] = static_cast<u8>(0xF0 | cp >> 18);
    p[1] = tail(cp >> 12);
    p[2] = tail(cp >> 6);
    p[3] = tail(cp);
    return 4;
}

}  // namespace roughly
