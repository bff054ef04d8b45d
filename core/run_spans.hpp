// From runs of tokens to spans of the texts, in bytes and in characters.
//
// A span of a window reaches from its first token to the token that follows it, so that what is left is joined at the
// edges of words; a span of units is the whole units with their line breaks. In HTML a span is divided at tags, which are
// hidden bytes, and ends at the first tag after its last token.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tokens.hpp"
#include "units.hpp"
#include "words.hpp"

namespace roughly {

// Text d has the bytes offsets[d] : offsets[d + 1] of each.
struct MaskedTexts {
    std::span<const u8> data;    // as read
    std::span<const u8> masked;  // with markup overwritten
    std::span<const u8> hidden;  // 1: a byte of a tag
    std::span<const u8> markup;  // per text: 1 if its spans are divided at hidden bytes; empty: none is
    std::span<const i64> offsets;
};

// Tokens first : first + tokens of a text.
struct TextRun {
    i64 text, first, tokens;
};

struct TextSpan {
    i64 run, start, end, char_start, char_end, first, tokens;
};

struct TextPlace {
    i64 byte, character;
};

// The tokens of one text after another.
class TextPositions {
public:
    // Without a kind of units, runs are windows.
    TextPositions(const MaskedTexts& texts, const UnicodeTable& table, std::optional<UnitKind> kind)
        : texts_(texts), table_(table), kind_(kind) {}

    // Finds the tokens of a text; returns their number.
    i64 read(std::size_t d) {
        const u64 from = static_cast<u64>(texts_.offsets[d]), size = static_cast<u64>(texts_.offsets[d + 1]) - from;
        text_ = texts_.data.subspan(from, size);
        divided_ = !texts_.markup.empty() && texts_.markup[d] != 0;
        if (divided_) hidden_ = texts_.hidden.subspan(from, size);
        const auto masked = texts_.masked.subspan(from, size);
        counted_ = {0, 0};
        count_ = 0;
        if (!kind_) {
            count_ = put_spans(masked, 0, size, table_, scratch_, spans_, 0) / 2;
            return static_cast<i64>(count_);
        }
        edges_.assign(1, 0);
        append_units(masked, *kind_, 0, edges_);
        unit_ends_.clear();
        for (std::size_t unit = 0; unit + 1 < edges_.size(); unit++) {
            const u64 begin = static_cast<u64>(edges_[unit]), end = static_cast<u64>(edges_[unit + 1]);
            count_ = put_spans(masked, begin, end, table_, scratch_, spans_, 2 * count_) / 2;
            unit_ends_.push_back(static_cast<i64>(count_));
        }
        return static_cast<i64>(count_);
    }

    // Where the span of a token starts.
    TextPlace place_of(i64 token) {
        const i64 byte = bytes_of(token, token + 1).first;
        return {byte, character(byte)};
    }

    // Appends the spans of a run: one, unless there are hidden bytes in it.
    void append(i64 number, const TextRun& run, std::vector<TextSpan>& out) {
        const i64 last = run.first + run.tokens;
        auto [start, end] = bytes_of(run.first, last);
        if (!divided_) {
            out.push_back({number, start, end, character(start), character(end), run.first, run.tokens});
            return;
        }
        end = std::min(end, skip(end_of(last - 1), end, 0));
        for (i64 at = start; at < end;) {
            const i64 begin = skip(at, end, 1), stop = skip(begin, end, 0);
            at = stop;
            if (begin == stop) continue;
            const i64 before = first_token([&](i64 token) { return end_of(token) > begin; });
            const i64 after = first_token([&](i64 token) { return start_of(token) >= stop; });
            if (after <= before) continue;
            const i64 first = std::max(before, run.first);
            out.push_back({number, begin, stop, character(begin), character(stop), first, std::min(after, last) - first});
        }
    }

private:
    i64 start_of(i64 token) const { return spans_[static_cast<u64>(2 * token)]; }
    i64 end_of(i64 token) const { return spans_[static_cast<u64>(2 * token + 1)]; }

    // The first token for which `holds`, which holds for all that follow it too; their number if there is none.
    template <typename Holds>
    i64 first_token(Holds&& holds) const {
        i64 low = 0, high = static_cast<i64>(count_);
        while (low < high) {
            const i64 middle = low + (high - low) / 2;
            if (holds(middle)) high = middle;
            else low = middle + 1;
        }
        return low;
    }

    // The first byte from `at` on that is not hidden (1) or not shown (0).
    i64 skip(i64 at, i64 end, u8 flag) const {
        while (at < end && hidden_[static_cast<u64>(at)] == flag) at++;
        return at;
    }

    // Start and end of the tokens first … last − 1 and of what separates them from the next one.
    std::pair<i64, i64> bytes_of(i64 first, i64 last) const {
        if (kind_) {
            const auto unit_of = [&](i64 token) {
                return static_cast<u64>(std::upper_bound(unit_ends_.begin(), unit_ends_.end(), token) -
                                        unit_ends_.begin());
            };
            return {edges_[unit_of(first)], edges_[unit_of(last - 1) + 1]};
        }
        const i64 start = first > 0 ? std::max(start_of(first), end_of(first - 1)) : start_of(first);
        const i64 end = last < static_cast<i64>(count_) ? start_of(last) : static_cast<i64>(text_.size());
        return {start, std::max(start, end)};
    }

    // The number of characters before a byte; cheap where bytes ascend.
    i64 character(i64 byte) {
        if (byte < counted_.byte) counted_ = {0, 0};
        const auto some = text_.subspan(static_cast<u64>(counted_.byte), static_cast<u64>(byte - counted_.byte));
        counted_.character += std::count_if(some.begin(), some.end(), [](u8 c) { return (c & 0xC0) != 0x80; });
        counted_.byte = byte;
        return counted_.character;
    }

    MaskedTexts texts_;
    UnicodeTable table_;
    std::optional<UnitKind> kind_;
    TokenScratch scratch_;
    Buffer<i64> spans_{1 << 10};  // start and end of each token
    u64 count_ = 0;
    std::vector<i64> edges_, unit_ends_;  // of units: bytes, and tokens up to the end of each
    std::span<const u8> text_, hidden_;
    bool divided_ = false;
    TextPlace counted_{0, 0};  // the characters before the byte that was asked for last
};

}  // namespace roughly
