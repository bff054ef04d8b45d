// JSON lines: the values of a few wanted columns, found and unescaped in one pass over the bytes.
//
// A line is *taken* if it is, beyond doubt, one JSON object (RFC 8259) from its first to its last byte that has a
// string for a text, and only strings, whole numbers and nulls for the other wanted columns. Everything else is
// *unsure* and left to a slower reader, also much that is good JSON: a wanted key that occurs twice, a top-level key
// with an escape in it, a lone surrogate, `-0`, more than 18 digits in a wanted number, an exponent of three digits,
// values nested deeper than 60, bytes that are not UTF-8.
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
#include <stdexcept>
#include <vector>

#include "buffer.hpp"
#include "utf8.hpp"
#include "words.hpp"

namespace roughly {

enum class LineStatus : u8 { unsure = 0, taken = 1, blank = 2 };
enum class ValueKind : u8 { null = 0, plain = 1, escaped = 2 };  // a plain value is copied as it is

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

// What was found. Column 0 is the text; spans and kinds are those of the others, in turn.
struct JsonColumns {
    Buffer<u8> status;         // of each line: a LineStatus
    Buffer<u8> text;           // of the lines taken, one after another
    Buffer<i64> ends;          // where each line's text ends; where the line before ended, if it was not taken
    std::vector<i64> spans;    // (columns, lines, 2): start and end of the value in the data
    std::vector<u8> kinds;     // (columns, lines): a ValueKind
};

// Finds the values of the wanted keys, the first of which is the text's, line by line.
class ValueFinder {
public:
    ValueFinder(std::span<const u8> data, std::span<const i64> ends, std::span<const u8> keys,
                std::span<const i64> key_offsets)
        : json_(data), ends_(ends), keys_(keys), key_offsets_(key_offsets), columns_(key_offsets.size() - 1),
          seen_(columns_, NEVER) {
        const std::size_t lines = ends.size(), others = columns_ - 1;
        found_.status = Buffer<u8>(lines);
        found_.text = Buffer<u8>(data.size() + ROOM);
        found_.ends = Buffer<i64>(lines);
        found_.spans.resize(others * lines * 2);
        found_.kinds.resize(others * lines);
    }

    JsonColumns find() {
        u64 start = 0, n = 0;
        for (u64 line = 0; line < ends_.size(); line++) {
            const u64 end = static_cast<u64>(ends_[line]), at = json_.skip_space(start, end);
            auto status = LineStatus::blank;
            if (at < end) {
                const u64 stop = is_utf8(json_.data() + at, end - at) ? read_object(at, end, line, n) : BAD;
                status = stop == BAD ? LineStatus::unsure : LineStatus::taken;
                if (stop != BAD) n = stop;
                if (stop == BAD) forget(line);
            }
            found_.status[line] = static_cast<u8>(status);
            found_.ends[line] = static_cast<i64>(n);
            start = end;
        }
        found_.text.truncate(n);
        return std::move(found_);
    }

private:
    static constexpr u64 NEVER = ~u64{0};

    // A line that is not taken has no values.
    void forget(u64 line) {
        const std::size_t lines = ends_.size();
        for (std::size_t c = 0; c + 1 < columns_; c++) found_.kinds[c * lines + line] = 0;
    }

    // Reads one line's object; its text goes to text[n]. Returns where the text ends there, or BAD.
    u64 read_object(u64 at, u64 end, u64 line, u64 n) {
        if (json_.peek(at, end) != '{') return BAD;
        u64 stop = n;
        at = json_.skip_space(at + 1, end);
        while (true) {
            if (json_.peek(at, end) != '"') return BAD;
            const u64 key = at + 1;
            at = json_.plain_end(key, end);
            if (at == BAD) return BAD;
            const u64 column = which(key, at);
            at = json_.skip_space(at + 1, end);
            if (json_.peek(at, end) != ':') return BAD;
            at = json_.skip_space(at + 1, end);
            if (column == BAD) {
                at = json_.skip_value(at, end);
            } else {
                if (seen_[column] == line) return BAD;
                seen_[column] = line;
                if (column == 0) {
                    if (json_.peek(at, end) != '"') return BAD;
                    const auto copied = json_.copy_string(at + 1, end, found_.text.data(), n);
                    at = copied.at;
                    stop = copied.end;
                } else {
                    at = note(at, end, column - 1, line);
                }
            }
            if (at == BAD) return BAD;
            at = json_.skip_space(at, end);
            const u8 letter = json_.peek(at, end);
            at++;
            if (letter == '}') break;
            if (letter != ',') return BAD;
            at = json_.skip_space(at, end);
        }
        return seen_[0] == line && json_.skip_space(at, end) == end ? stop : BAD;
    }

    // Records the position of a wanted value; returns the position after it, or BAD.
    u64 note(u64 at, u64 end, u64 column, u64 line) {
        const u8 letter = json_.peek(at, end);
        if (letter == 'n') return json_.skip_literal(at, end);
        u64 start = at, stop;
        auto kind = ValueKind::plain;
        if (letter == '"') {
            start = at + 1;
            stop = json_.plain_end(start, end);
            if (stop == BAD) {
                kind = ValueKind::escaped;
                stop = json_.skip_string(start, end);
                if (stop == BAD) return BAD;
                stop--;
            }
            at = stop + 1;
        } else {
            stop = at = json_.skip_whole(at, end);
            if (stop == BAD) return BAD;
        }
        const u64 place = column * ends_.size() + line;
        found_.spans[2 * place] = static_cast<i64>(start);
        found_.spans[2 * place + 1] = static_cast<i64>(stop);
        found_.kinds[place] = static_cast<u8>(kind);
        return at;
    }

    // The number of the wanted key that data[start:stop] is, or BAD.
    u64 which(u64 start, u64 stop) const {
        for (u64 c = 0; c < columns_; c++) {
            const u64 first = static_cast<u64>(key_offsets_[c]), length = static_cast<u64>(key_offsets_[c + 1]) - first;
            if (length == stop - start && std::equal(json_.data() + start, json_.data() + stop, keys_.data() + first)) {
                return c;
            }
        }
        return BAD;
    }

    JsonReader json_;
    std::span<const i64> ends_;
    std::span<const u8> keys_;
    std::span<const i64> key_offsets_;
    u64 columns_;
    std::vector<u64> seen_;  // for each wanted key, the last line that it was seen in
    JsonColumns found_;
};

struct Strings {
    Buffer<u8> text;
    Buffer<i64> offsets;
};

// One column: the values at spans[2i] … spans[2i + 1] one after another, unescaped, and n + 1 offsets.
inline Strings gather_values(std::span<const u8> data, std::span<const i64> spans, std::span<const u8> kinds) {
    const std::size_t n = kinds.size();
    const i64 size = static_cast<i64>(data.size());
    u64 room = ROOM;
    for (std::size_t i = 0; i < n; i++) {
        if (kinds[i] == static_cast<u8>(ValueKind::null)) continue;
        const i64 start = spans[2 * i], stop = spans[2 * i + 1];
        if (start < 0 || stop < start || stop > size) throw std::invalid_argument("a span does not lie in the data");
        room += static_cast<u64>(stop - start) + 1;
    }
    const JsonReader json(data);
    Strings out{Buffer<u8>(room), Buffer<i64>(n + 1)};
    out.offsets[0] = 0;
    u64 at = 0;
    for (std::size_t i = 0; i < n; i++) {
        const u64 start = static_cast<u64>(spans[2 * i]), stop = static_cast<u64>(spans[2 * i + 1]);
        if (kinds[i] == static_cast<u8>(ValueKind::plain)) {
            std::copy(data.data() + start, data.data() + stop, out.text.data() + at);
            at += stop - start;
        } else if (kinds[i] == static_cast<u8>(ValueKind::escaped)) {
            at = json.copy_string(start, std::min<u64>(stop + 1, data.size()), out.text.data(), at).end;
        }
        out.offsets[i + 1] = static_cast<i64>(at);
    }
    out.text.truncate(at);
    return out;
}

}  // namespace roughly
