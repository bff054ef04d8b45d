// JSON lines: the values of a few wanted columns, found and unescaped in one pass over the bytes.
//
// A line is *taken* if it is, beyond doubt, one JSON object (RFC 8259) from its first to its last byte that has a
// string for a text, and only strings, whole numbers and nulls for the other wanted columns. Everything else is
// *unsure* and left to a slower reader, also much that is good JSON: a wanted key that occurs twice, a top-level key
// with an escape in it, a lone surrogate, `-0`, more than 18 digits in a wanted number, an exponent of three digits,
// values nested deeper than 60, bytes that are not UTF-8.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <stdexcept>
#include <vector>

#include "buffer.hpp"
#include "json_reader.hpp"
#include "utf8.hpp"
#include "words.hpp"

namespace roughly {

enum class LineStatus : u8 { unsure = 0, taken = 1, blank = 2 };
enum class ValueKind : u8 { null = 0, plain = 1, escaped = 2 };  // a plain value is copied as it is

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
