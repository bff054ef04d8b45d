// Bindings of what finds runs of tokens in texts.

#include <nanobind/stl/tuple.h>

#include "bind_rows.hpp"
#include "run_spans.hpp"

namespace roughly {

namespace {

// What was found; `changed` is the first text with another number of tokens than before, −1 if there is none.
struct FoundSpans {
    std::vector<TextSpan> spans;
    std::vector<TextPlace> places;
    i64 changed = -1;
};

struct SpanRequest {
    std::span<const i64> counts;  // tokens of each text
    Matrix<const i64> runs;       // text, first, tokens; by text
    Matrix<const i64> asked;      // text, token; by text
};

FoundSpans find_spans(const MaskedTexts& texts, const UnicodeTable& table, i64 kind, const SpanRequest& request) {
    TextPositions positions(texts, table, kind < 0 ? std::nullopt : std::optional(UnitKind{kind}));
    FoundSpans found;
    i64 run = 0, place = 0;
    for (i64 d = 0; d < static_cast<i64>(request.counts.size()); d++) {
        const i64 count = positions.read(static_cast<std::size_t>(d));
        if (count != request.counts[static_cast<std::size_t>(d)]) {
            found.changed = d;
            return found;
        }
        for (; run < request.runs.rows && request.runs.row(run)[0] == d; run++) {
            const TextRun given{d, request.runs.row(run)[1], request.runs.row(run)[2]};
            require(given.first >= 0 && given.tokens > 0 && given.first <= count - given.tokens,
                    "runs must lie within their text");
            positions.append(run, given, found.spans);
        }
        for (; place < request.asked.rows && request.asked.row(place)[0] == d; place++) {
            const i64 token = request.asked.row(place)[1];
            require(token >= 0 && token < count, "tokens must lie within their text");
            found.places.push_back(positions.place_of(token));
        }
    }
    require(run == request.runs.rows && place == request.asked.rows, "runs and tokens must be sorted by text");
    return found;
}

}  // namespace

void bind_spans(nb::module_& m) {
    // texts: (data, masked, hidden, markup, offsets); table: (stage1, stage2)
    m.def("run_spans", [](nb::handle texts, nb::handle table, i64 kind, In<i64> counts, In2<i64> runs, In2<i64> asked) {
        const Fields text(texts, "MaskedTexts", 5), unicode(table, "UnicodeTable", 2);
        const MaskedTexts given{text.in<u8>(0), text.in<u8>(1), text.in<u8>(2), text.in<u8>(3), text.in<i64>(4)};
        const auto stage1 = unicode.in<u16>(0);
        require(stage1.size() >= STAGE1, "stage1 must have an entry for every block of 256 code points");
        require(kind >= -1 && kind <= 2, "kind must be −1, 0, 1 or 2");
        require(given.offsets.size() == counts.size() + 1, "every text needs its number of tokens");
        i64 last = 0;
        for (const i64 offset : given.offsets) {
            require(offset >= last, "offsets must rise from 0 or more");
            last = offset;
        }
        const u64 size = given.data.size();
        require(static_cast<u64>(last) <= size && given.masked.size() == size, "texts must lie within the data");
        require(given.markup.empty() || (given.markup.size() == counts.size() && given.hidden.size() == size),
                "every text needs its flag, and every byte its own");
        require(runs.shape(1) == 3 && asked.shape(1) == 2, "runs have three columns, tokens two");
        const UnicodeTable unicode_table{stage1.data(), unicode.in<u32>(1).data()};
        FoundSpans found = without_gil([&] {
            return find_spans(given, unicode_table, kind,
                              {span(counts), matrix(runs), matrix(asked)});
        });
        return std::tuple(rows_to_numpy<i64>(std::move(found.spans)), rows_to_numpy<i64>(std::move(found.places)),
                          found.changed);
    });
}

}  // namespace roughly
