// Bindings of the alignment of token sequences, and of the runs that they share.

#include <cstring>
#include <vector>

#include "align.hpp"
#include "bind.hpp"
#include "buffer.hpp"
#include "runs.hpp"
#include "shingles.hpp"

namespace roughly {

namespace {

static_assert(sizeof(alignment::Block) == 3 * sizeof(i64) && sizeof(alignment::Outline) == 5 * sizeof(i64));

// Rows (left start, right start, length), one number after another.
Buffer<i64> rows_of(const std::vector<alignment::Block>& blocks) {
    Buffer<i64> rows(3 * blocks.size());
    if (!blocks.empty()) std::memcpy(rows.data(), blocks.data(), rows.size() * sizeof(i64));
    return rows;
}

}  // namespace

void bind_align(nb::module_& m) {
    m.def("align", [](In<u64> left, In<u64> right) {
        return to_numpy(without_gil([&] {
            alignment::Aligner aligner;
            return rows_of(aligner.align(span(left), span(right), false));
        }), 3);
    });
    m.def("shared_runs", [](In<u64> left, In<u64> right, i64 size) {
        return to_numpy(without_gil([&] {
            alignment::SharedRuns runs;
            return rows_of(runs.find(span(left), span(right), size));
        }), 3);
    });
    m.def("outlines", [](In<u64> hashes, In<i64> offsets, In<i64> lefts, In<i64> rights) {
        return to_numpy(without_gil([&] {
            const auto document = [&](i64 d) {
                return slice(span(hashes), span(offsets), static_cast<std::size_t>(d));
            };
            alignment::Aligner aligner;
            Buffer<i64> rows(5 * lefts.size());
            for (std::size_t p = 0; p < lefts.size(); p++) {
                const auto outline = aligner.outline(document(lefts.data()[p]), document(rights.data()[p]));
                std::memcpy(rows.data() + 5 * p, &outline, sizeof(outline));
            }
            return rows;
        }), 5);
    });
}

}  // namespace roughly
