// Lines, sentences and paragraphs of a text, in any script. Units follow each other without a gap: a unit has the
// separators that follow it, so every byte of a text belongs to one unit.
//
// | unit      | ends                                                                                             |
// |-----------|--------------------------------------------------------------------------------------------------|
// | line      | after a line break: LF, CR, CR LF, VT, FF, U+0085, U+2028, U+2029                                 |
// | paragraph | after a blank line (only white space) and the blank lines that follow it; after U+2029            |
// | sentence  | after a full stop, the closing marks and the white space that follow; where a paragraph ends      |
//
// Full stops that need white space after them: . ! ? … ؟ ۔ । ॥ ። ። ၊ ။ ។ ៕ ‼ ⁇ ⁈ ⁉. A point is none after a single letter (an
// initial) or before a small ASCII letter or a digit. Those of Chinese and Japanese (。 ！ ？ ｡) end a sentence
// anywhere. Scripts without full stops, such as Thai, have paragraphs only: their sentences are paragraphs.
#pragma once

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

inline bool is_stop(u32 cp) {
    switch (cp) {
        case '.': case '!': case '?': case 0x2026: case 0x061F: case 0x06D4: case 0x0964: case 0x0965: case 0x1362:
        case 0x1367: case 0x104A: case 0x104B: case 0x17D4: case 0x17D5: case 0x203C: case 0x2047: case 0x2048:
        case 0x2049:
            return true;
        default:
            return false;
    }
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
