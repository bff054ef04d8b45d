// Lines, sentences and paragraphs of a text, in any script. Units follow each other without a gap: a unit has the
// separators that follow it, so every byte of a text belongs to one unit.
//
// | unit      | ends                                                                                             |
// |-----------|--------------------------------------------------------------------------------------------------|
// | line      | after a line break: LF, CR, CR LF, VT, FF, U+0085, U+2028, U+2029                                 |
// | paragraph | after a blank line (only white space) and the blank lines that follow it; after U+2029            |
// | sentence  | after a full stop, the closing marks and the white space that follow; where a paragraph ends      |
//
// Full stops that need white space after them: … and the marks that Unicode calls Sentence_Terminal (of scripts in use).
// A point is none after a single letter (an initial) or before a small ASCII letter or a digit. Those of Chinese and
// Japanese (。 ！ ？ ｡) end a sentence anywhere, ! and ? also right before Chinese characters and kana. Scripts without
// full stops, such as Thai, have paragraphs only: their sentences are paragraphs.
#pragma once

#include <algorithm>
#include <iterator>
#include <span>
#include <vector>

#include "utf8.hpp"
#include "words.hpp"

namespace roughly {

enum class UnitKind : i64 { line = 0, sentence = 1, paragraph = 2 };

namespace units {

inline bool is_break(u32 cp) { return (cp >= 0x0A && cp <= 0x0D) || cp == 0x85 || cp == 0x2028 || cp == 0x2029; }

inline bool is_white(u32 cp) {
    return cp == 0x20 || cp == 0x09 || is_break(cp) || cp == 0xA0 || cp == 0x1680 || (cp >= 0x2000 && cp <= 0x200B) ||
           cp == 0x202F || cp == 0x205F || cp == 0x3000 || cp == 0xFEFF;
}

struct Range {
    u32 first, last;
};

// Sentence_Terminal in Unicode 14, U+0589 to U+ABEB, and the ellipsis.
inline constexpr Range stops[] = {
    {0x0589, 0x0589}, {0x061D, 0x061F}, {0x06D4, 0x06D4}, {0x0700, 0x0702}, {0x07F9, 0x07F9}, {0x0837, 0x0837},
    {0x0839, 0x0839}, {0x083D, 0x083E}, {0x0964, 0x0965}, {0x104A, 0x104B}, {0x1362, 0x1362}, {0x1367, 0x1368},
    {0x166E, 0x166E}, {0x1735, 0x1736}, {0x17D4, 0x17D5}, {0x1803, 0x1803}, {0x1809, 0x1809}, {0x1944, 0x1945},
    {0x1AA8, 0x1AAB}, {0x1B5A, 0x1B5B}, {0x1B5E, 0x1B5F}, {0x1B7D, 0x1B7E}, {0x1C3B, 0x1C3C}, {0x1C7E, 0x1C7F},
    {0x2026, 0x2026}, {0x203C, 0x203D}, {0x2047, 0x2049}, {0x2E2E, 0x2E2E}, {0x2E3C, 0x2E3C}, {0x2E53, 0x2E54},
    {0xA4FF, 0xA4FF}, {0xA60E, 0xA60F}, {0xA6F3, 0xA6F3}, {0xA6F7, 0xA6F7}, {0xA876, 0xA877}, {0xA8CE, 0xA8CF},
    {0xA92F, 0xA92F}, {0xA9C8, 0xA9C9}, {0xAA5D, 0xAA5F}, {0xAAF0, 0xAAF1}, {0xABEB, 0xABEB},
};

inline bool is_stop(u32 cp) {
    if (cp < 0x80) return cp == '.' || cp == '!' || cp == '?';
    const auto* found = std::lower_bound(std::begin(stops), std::end(stops), cp,
                                         [](const Range& range, u32 value) { return range.last < value; });
    return found != std::end(stops) && found->first <= cp;
}

// Characters of Chinese and Japanese, which have no spaces between sentences.
inline bool is_wide(u32 cp) {
    return (cp >= 0x3041 && cp <= 0x30FF) || (cp >= 0x3400 && cp <= 0x9FFF) || (cp >= 0xF900 && cp <= 0xFAFF) ||
           (cp >= 0x20000 && cp <= 0x3FFFF);
}

inline bool is_wide_stop(u32 cp) { return cp == 0x3002 || cp == 0xFF01 || cp == 0xFF1F || cp == 0xFF61; }

inline bool closes(u32 cp) {
    switch (cp) {
        case '"': case '\'': case ')': case ']': case '}': case 0xBB: case 0x203A: case 0x2019: case 0x201D:
        case 0x300D: case 0x300F: case 0x3011: case 0xFF09:
            return true;
        default:
            return false;
    }
}

}  // namespace units

// A text, character by character.
struct TextReader {
    std::span<const u8> text;

    Decoded at(u64 place) const {
        return text[place] < 128 ? Decoded{text[place], 1} : decode(text.data() + place, text.size() - place);
    }

    // After the line break at `place`; CR LF is one.
    u64 after_break(u64 place) const {
        const Decoded found = at(place);
        const u64 next = place + found.size;
        return found.cp == 0x0D && next < text.size() && text[next] == 0x0A ? next + 1 : next;
    }

    // After the line at `place` and the break that ends it.
    u64 after_line(u64 place) const {
        while (place < text.size()) {
            const Decoded found = at(place);
            if (units::is_break(found.cp)) return after_break(place);
            place += found.size;
        }
        return place;
    }

    // Whether nothing but white space is in text[place:end].
    bool is_blank(u64 place, u64 end) const {
        while (place < end) {
            const Decoded found = at(place);
            if (!units::is_white(found.cp)) return false;
            place += found.size;
        }
        return true;
    }

    // After the paragraph at `place` and the blank lines that follow it.
    u64 after_paragraph(u64 place) const {
        bool blank = false;
        while (place < text.size()) {
            const u64 next = after_line(place);
            const bool is_empty = is_blank(place, next);
            if (blank && !is_empty) return place;
            blank = blank || is_empty;
            const bool ended = next - place >= 3 && at(next - 3).cp == 0x2029;
            place = next;
            if (ended) return place;
        }
        return place;
    }

    // Whether a point at `place` ends a sentence whose text began at `from` and goes on at `next`.
    bool ends_sentence(u64 from, u64 place, u64 next) const {
        if (next < text.size()) {
            const u8 c = text[next];
            if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) return false;
        }
        const bool letter = place > from && in_word(text[place - 1]) != 0 && text[place - 1] > '9';
        return !letter || (place > from + 1 && (in_word(text[place - 2]) != 0 || text[place - 2] > 127));
    }

    // After the sentence at `place`, which ends before `end` at the latest.
    u64 after_sentence(u64 place, u64 end) const {
        const u64 from = place;
        while (place < end) {
            const Decoded found = at(place);
            const u64 stop = place;
            place += found.size;
            const bool wide = units::is_wide_stop(found.cp);
            if (!wide && !units::is_stop(found.cp)) continue;
            while (place < end) {
                const Decoded next = at(place);
                if (!units::closes(next.cp) && !units::is_stop(next.cp) && !units::is_wide_stop(next.cp)) break;
                place += next.size;
            }
            u64 after = place;
            while (after < end) {
                const Decoded next = at(after);
                if (!units::is_white(next.cp)) break;
                after += next.size;
            }
            if (wide || (after > place && (found.cp != '.' || ends_sentence(from, stop, after)))) return after;
            if ((found.cp == '!' || found.cp == '?') && place < end && units::is_wide(at(place).cp)) return place;
        }
        return end;
    }
};

// Appends where each unit of the text ends; an empty text has none.
inline void append_units(std::span<const u8> text, UnitKind kind, i64 base, std::vector<i64>& ends) {
    const TextReader reader{text};
    for (u64 place = 0; place < text.size();) {
        if (kind == UnitKind::line) {
            place = reader.after_line(place);
            ends.push_back(base + static_cast<i64>(place));
            continue;
        }
        const u64 end = reader.after_paragraph(place);
        if (kind == UnitKind::paragraph) place = end;
        while (place < end) {
            place = reader.after_sentence(place, end);
            if (place < end) ends.push_back(base + static_cast<i64>(place));
        }
        ends.push_back(base + static_cast<i64>(end));
    }
}

}  // namespace roughly
