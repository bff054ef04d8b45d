// Bindings of what tuning does: all pairs of a sample scored, and clusters at all thresholds.

#include "bind_rows.hpp"
#include "posting_lists.hpp"
#include "threshold_clusters.hpp"

namespace roughly {

void bind_scored(nb::module_& m) {
    m.def("posting_lists", [](In<u64> values, In<i64> offsets) {
        PostingLists lists = without_gil([&] {
            const auto given = span(offsets);
            require(!given.empty() && given.front() == 0 && given.back() == static_cast<i64>(values.size()),
                    "offsets must begin at 0 and end with the values");
            for (std::size_t i = 0; i + 1 < given.size(); ++i) require(given[i] <= given[i + 1], "offsets must not fall");
            require(values.size() < (u64{1} << 32), "posting lists hold fewer than 2^32 values");
            return posting_lists(span(values), given);
        });
        return std::tuple(to_numpy(std::move(lists.docs)), to_numpy(std::move(lists.offsets)),
                          to_numpy(std::move(lists.begins)), to_numpy(std::move(lists.ends)));
    });
    m.def("scored_block", [](i64 start, i64 stop, nb::handle lists, In<i64> sizes, In<double> floors) {
        const Fields fields(lists, "PostingLists", 4);
        const PostingView view{fields.in<u32>(0), fields.in<i64>(1), fields.in<u32>(2), fields.in<u32>(3)};
        ScoredBlock found = without_gil([&] {
            const auto documents = static_cast<i64>(view.offsets.size()) - 1;
            require(0 <= start && start <= stop && stop <= documents, "documents must exist");
            require(static_cast<i64>(sizes.size()) == documents, "every document needs a size");
            require(floors.size() == 2, "floors are those of resemblance and containment");
            return scored_block(start, stop, view, span(sizes), span(floors));
        });
        return std::tuple(rows_to_numpy<i32>(std::move(found.pairs)), to_numpy(std::move(found.histogram)));
    });
    m.def("threshold_clusters", [](In<i64> offsets, In<i32> others, In<double> scores, In<double> thresholds, bool linked,
                                   Out2<i32> groups) {
        without_gil([&] {
            const auto given = span(offsets);
            const Matrix<i32> rows = matrix(groups);
            require(!given.empty() && given.front() == 0 && given.back() == static_cast<i64>(others.size()),
                    "offsets must begin at 0 and end with the pairs");
            require(others.size() == scores.size(), "every pair needs a score");
            require(rows.rows == static_cast<i64>(thresholds.size()) && rows.width == static_cast<i64>(given.size()) - 1,
                    "groups must have a row per threshold and a column per document");
            for (std::size_t d = 0; d + 1 < given.size(); ++d) {
                require(given[d] <= given[d + 1], "offsets must not fall");
                for (i64 at = given[d]; at < given[d + 1]; ++at) {
                    const i32 other = others.data()[at];
                    require(other >= 0 && other < static_cast<i64>(d), "pairs name a document and a better one");
                }
            }
            threshold_clusters({given, span(others), span(scores)}, span(thresholds), linked, rows);
        });
    });
}

}  // namespace roughly
