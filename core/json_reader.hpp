// The JSON of lines, read where it is: strings, numbers and whole values, each checked beyond doubt.
//
// Strings are read sixteen bytes at a time, as a vector of bytes that are compared with a quote, a backslash and the
// first character that is no control character. Line feeds are control characters, so no string crosses the end of a
// line.
//
// All positions are uint64; BAD means "unsure".
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>

#include "buffer.hpp"
#include "utf8.hpp"
#include "words.hpp"

namespace roughly {

inline constexpr u64 BAD = ~u64{0};
inline constexpr u64 VECTOR = 16;      // bytes that are read at a time
inline constexpr u64 ROOM = VECTOR;    // bytes that are written past the end of a string and then written over

// The JSON of one or more lines; every method takes positions in the data and the end of the line.
class JsonReader {
public:
    explicit JsonReader(std::span<const u8> data) : data_(data.data()), size_(data.size()) {}

    // The byte at `at`, or 0 at the end of the line; a 0 is invalid outside a string.
    u8 peek(u64 at, u64 end) const { return at < end ? data_[at] : 0; }

    u64 skip_space(u64 at, u64 end) const {
        while (at < end && (data_[at] == ' ' || data_[at] == '\n' || data_[at] == '\r' || data_[at] == '\t')) at++;
        return at;
    }

    // The position of the closing quote of a string without escapes; or BAD.
    u64 plain_end(u64 at, u64 end) const {
        at = next_special(at, end);
        return peek(at, end) == '"' ? at : BAD;
    }

    // The position after the closing quote of a string; or BAD.
    u64 skip_string(u64 at, u64 end) const {
        while (true) {
            at = next_special(at, end);
            const u8 letter = peek(at, end);
            if (letter == '"') return at + 1;
            if (letter != '\\') return BAD;
            at = unescape(at, end).at;
            if (at == BAD) return BAD;
        }
    }

    struct Copied {
        u64 at;   // behind the closing quote, or BAD
        u64 end;  // where the string ends in the output
    };

    // Unescapes a string to out[n]. Writes ROOM bytes past its end at most.
    Copied copy_string(u64 at, u64 end, u8* out, u64 n) const {
        while (true) {
            bool found = false;
            while (at < end && at + VECTOR <= size_) {
                const Bytes block = read(at);
                std::memcpy(out + n, &block, VECTOR);
                const u64 special = first_special(block), k = std::min(special, end - at);
                at += k;
                n += k;
                if (special < VECTOR) {
                    found = true;
                    break;
                }
            }
            if (!found) {
                for (; at < end && !is_special(data_[at]); at++) out[n++] = data_[at];
            }
            const u8 letter = peek(at, end);
            if (letter == '"') return {at + 1, n};
            if (letter != '\\') return {BAD, n};
            if (const u8 stands_for = SHORT[peek(at + 1, end)]) {
                out[n++] = stands_for;
                at += 2;
                continue;
            }
            const Unescaped character = unescape(at, end);
            if (character.at == BAD) return {BAD, n};
            at = character.at;
            n += put(out + n, character.cp);
        }
    }

    // The position after null, true or false; or BAD.
    u64 skip_literal(u64 at, u64 end) const {
        if (at + 4 > end) return BAD;
        if (std::memcmp(data_ + at, "null", 4) == 0 || std::memcmp(data_ + at, "true", 4) == 0) return at + 4;
        if (std::memcmp(data_ + at, "fals", 4) == 0 && peek(at + 4, end) == 'e') return at + 5;
        return BAD;
    }

    // The position after a whole number as people write it: no fraction, no -0, 18 digits at most; or BAD.
    u64 skip_whole(u64 at, u64 end) const {
        const bool negative = peek(at, end) == '-';
        at += negative;
        const u64 stop = skip_digits(at, end), digits = stop - at;
        if (digits == 0 || digits > 18 || (data_[at] == '0' && (negative || digits > 1))) return BAD;
        const u8 letter = peek(stop, end);
        return letter == '.' || letter == 'e' || letter == 'E' ? BAD : stop;
    }

    // The position after the value at `at`, of any kind; or BAD. `inside` has a bit per level: 1 in an object, 0 in an
    // array.
    u64 skip_value(u64 at, u64 end) const {
        constexpr u64 DEEPEST = 60;
        u64 inside = 0, depth = 0;
        const auto closing = [&inside] { return inside & 1 ? '}' : ']'; };
        while (true) {
            const u8 letter = peek(at, end);
            if (letter == '"') {
                at = skip_string(at + 1, end);
            } else if (letter == '{' || letter == '[') {
                if (depth == DEEPEST) return BAD;
                depth++;
                inside = inside << 1 | (letter == '{');
                at = skip_space(at + 1, end);
                if (peek(at, end) != closing()) {
                    if (inside & 1) at = skip_key(at, end);
                    if (at == BAD) return BAD;
                    continue;
                }
                at++;
                depth--;
                inside >>= 1;
            } else if (letter == 'n' || letter == 't' || letter == 'f') {
                at = skip_literal(at, end);
            } else {
                at = skip_number(at, end);
            }
            if (at == BAD) return BAD;
            while (true) {  // after a value: what comes next, a sibling or the end of its container?
                if (depth == 0) return at;
                at = skip_space(at, end);
                const u8 next = peek(at, end);
                at++;
                if (next == ',') {
                    at = skip_space(at, end);
                    if (inside & 1) at = skip_key(at, end);
                    if (at == BAD) return BAD;
                    break;
                }
                if (next != closing()) return BAD;
                depth--;
                inside >>= 1;
            }
        }
    }

    const u8* data() const { return data_; }

private:
    using Bytes = u8 __attribute__((vector_size(VECTOR)));
    using Words = u64 __attribute__((vector_size(VECTOR)));

    struct Unescaped {
        u64 at;  // after the escape, or BAD
        u32 cp;
    };

    // What the letter after a backslash stands for, except for u; 0 for a letter that means nothing.
    static constexpr auto SHORT = [] {
        std::array<u8, 256> letters{};
        letters['"'] = '"', letters['\\'] = '\\', letters['/'] = '/', letters['b'] = '\b';
        letters['f'] = '\f', letters['n'] = '\n', letters['r'] = '\r', letters['t'] = '\t';
        return letters;
    }();
    static constexpr auto HEX = [] {
        std::array<u8, 256> digits{};
        digits.fill(255);
        for (u8 i = 0; i < 10; i++) digits['0' + i] = i;
        for (u8 i = 0; i < 6; i++) digits['a' + i] = digits['A' + i] = 10 + i;
        return digits;
    }();

    static bool is_special(u8 letter) { return letter < 0x20 || letter == '"' || letter == '\\'; }

    Bytes read(u64 at) const {
        Bytes block;
        std::memcpy(&block, data_ + at, VECTOR);
        return block;
    }

    // The number of the first byte that is a quote, a backslash or a control character; VECTOR if none is.
    static u64 first_special(Bytes block) {
        const auto marks = (block == '"') | (block == '\\') | (block < 0x20);  // 255 for each such byte
        const Words words = reinterpret_cast<Words>(marks);
        if (words[0] != 0) return static_cast<u64>(std::countr_zero(little_endian(words[0]))) / 8;
        if (words[1] != 0) return 8 + static_cast<u64>(std::countr_zero(little_endian(words[1]))) / 8;
        return VECTOR;
    }

    // The first quote, backslash or control character from `at` on, or `end` where there is none before it.
    u64 next_special(u64 at, u64 end) const {
        while (at < end && at + VECTOR <= size_) {
            const u64 k = first_special(read(at));
            at += k;
            if (k < VECTOR) return std::min(at, end);
        }
        while (at < end && !is_special(data_[at])) at++;
        return std::min(at, end);
    }

    // The character that the escape at `at` stands for.
    Unescaped unescape(u64 at, u64 end) const {
        const u8 letter = peek(at + 1, end);
        if (letter != 'u') return {SHORT[letter] ? at + 2 : BAD, SHORT[letter]};
        const u32 cp = four_digits(at + 2, end);
        at += 6;
        if (cp < 0xD800 || (0xDFFF < cp && cp <= 0xFFFF)) return {at, cp};
        if (cp > 0xDBFF || peek(at, end) != '\\' || peek(at + 1, end) != 'u') return {BAD, cp};
        const u32 low = four_digits(at + 2, end);
        if (low < 0xDC00 || low > 0xDFFF) return {BAD, cp};
        return {at + 6, 0x10000 + ((cp - 0xD800) << 10) + (low - 0xDC00)};
    }

    // The number of four hexadecimal digits; above 0xFFFF if they are not.
    u32 four_digits(u64 at, u64 end) const {
        if (at + 4 > end) return 0x10000;
        u32 value = 0, wrong = 0;
        for (u64 k = 0; k < 4; k++) {
            const u32 digit = HEX[data_[at + k]];
            value = value << 4 | (digit & 15);
            wrong |= digit & 128;
        }
        return value | wrong << 9;
    }

    // The position after a key, its colon and the space after it; or BAD.
    u64 skip_key(u64 at, u64 end) const {
        if (peek(at, end) != '"') return BAD;
        at = skip_string(at + 1, end);
        if (at == BAD) return BAD;
        at = skip_space(at, end);
        return peek(at, end) == ':' ? skip_space(at + 1, end) : BAD;
    }

    u64 skip_digits(u64 at, u64 end) const {
        while (at < end && '0' <= data_[at] && data_[at] <= '9') at++;
        return at;
    }

    // The position after a number; or BAD, also for one that some reader might find too long.
    u64 skip_number(u64 at, u64 end) const {
        constexpr u64 LONGEST_NUMBER = 32, LONGEST_EXPONENT = 2;
        const u64 start = at;
        at += peek(at, end) == '-';
        u64 stop = skip_digits(at, end);
        if (stop == at || (data_[at] == '0' && stop - at > 1)) return BAD;
        if (peek(stop, end) == '.') {
            at = stop + 1;
            stop = skip_digits(at, end);
            if (stop == at) return BAD;
        }
        u8 letter = peek(stop, end);
        if (letter == 'e' || letter == 'E') {
            at = stop + 1;
            letter = peek(at, end);
            at += letter == '+' || letter == '-';
            stop = skip_digits(at, end);
            if (stop == at || stop - at > LONGEST_EXPONENT) return BAD;
        }
        return stop - start > LONGEST_NUMBER ? BAD : stop;
    }

    const u8* data_;
    u64 size_;
};

}  // namespace roughly
