// UTF-8 and the tokeniser: the input is a text, cut into documents. Spans lie in the text and ascend, there are as many as
// tokens, and a document has the same tokens alone as among others.

#include <algorithm>

#include "target.hpp"
#include "tokens.hpp"
#include "unicode_table.hpp"

namespace roughly::fuzz {

namespace {

void check_utf8(std::span<const u8> data) {
    bool well_formed = true;
    for (u64 at = 0; at < data.size();) {
        const Decoded found = decode(data.data() + at, data.size() - at);
        must(found.cp <= 0x10FFFF && found.size >= 1 && at + found.size <= data.size(), "a character lies in the text");
        u8 written[4];
        if (found.size > 1 || data[at] < 128) {
            must(put(written, found.size > 1 ? found.cp : data[at]) == found.size, "a character has one form");
            must(std::equal(written, written + found.size, data.data() + at), "and is written as it was read");
        }
        well_formed = well_formed && (data[at] < 128 || found.size > 1) && (found.cp < 0xD800 || found.cp > 0xDFFF || found.size == 1);
        at += found.size;
    }
    must(is_utf8(data.data(), data.size()) == well_formed, "the quick check and the decoder agree");
}

void check_spans(std::span<const u8> data, u64 tokens) {
    const Buffer<i64> spans = token_spans(data, unicode_table());
    must(spans.size() == 2 * tokens, "a span per token");
    for (u64 i = 0; i < spans.size(); i += 2) {
        must(0 <= spans[i] && spans[i] < spans[i + 1] && static_cast<u64>(spans[i + 1]) <= data.size(), "spans lie in the text");
        must(i == 0 || spans[i - 2] <= spans[i], "spans ascend");
    }
}

}  // namespace

void try_bytes(std::span<const u8> input) {
    const auto data = alone(input);
    check_utf8(data);
    const i64 size = static_cast<i64>(data.size());
    const i64 third = size / 3, offsets[] = {0, third, third, size};
    const TokenLists all = tokenise(data, offsets, unicode_table());
    must_ascend(all.offsets.span(), all.hashes.size());
    for (int d = 0; d < 3; d++) {
        const auto document = alone(std::span(data).subspan(static_cast<u64>(offsets[d]), static_cast<u64>(offsets[d + 1] - offsets[d])));
        const i64 own[] = {0, static_cast<i64>(document.size())};
        const TokenLists same = tokenise(document, own, unicode_table());
        const i64 begin = all.offsets[d], end = all.offsets[d + 1];
        must(static_cast<i64>(same.hashes.size()) == end - begin, "a document has as many tokens alone");
        must(std::equal(same.hashes.data(), same.hashes.data() + same.hashes.size(), all.hashes.data() + begin), "and the same ones");
        check_spans(document, same.hashes.size());
    }
}

}  // namespace roughly::fuzz
