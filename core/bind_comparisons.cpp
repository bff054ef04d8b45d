// Bindings of what a learned verdict compares.

#include <cstring>

#include "bind_rows.hpp"
#include "comparisons.hpp"

namespace roughly {

namespace {

void require_within(std::span<const i64> offsets, std::size_t values) {
    require(!offsets.empty() && offsets.front() >= 0, "offsets must hold at least one position, 0 or more");
    require(std::is_sorted(offsets.begin(), offsets.end()) && static_cast<u64>(offsets.back()) <= values,
            "offsets must rise and stay within the values");
}

void require_pairs(const In<i64>& left, const In<i64>& right, std::size_t sets) {
    require(left.size() == right.size(), "left and right must pair up");
    require_below(span(left), sets, "left must hold numbers of sets");
    require_below(span(right), sets, "right must hold numbers of sets");
}

// Rows of i64 as a matrix.
template <typename Row>
auto as_matrix(Buffer<Row>&& rows) {
    constexpr std::size_t width = sizeof(Row) / sizeof(i64);
    Buffer<i64> flat(rows.size() * width);
    std::memcpy(flat.data(), rows.data(), rows.size() * sizeof(Row));
    return to_numpy(std::move(flat), {rows.size(), width});
}

}  // namespace

void bind_comparisons(nb::module_& m) {
    m.def("facts_of", [](In<u64> values, In<u64> keys, In<u64> facts, u64 absent) {
        return to_numpy(without_gil([&] {
            require(keys.size() == facts.size(), "every key needs its facts");
            return facts_of(span(values), span(keys), span(facts), absent);
        }));
    });
    m.def("without_lone_values", [](In<u64> values, In<i64> offsets) {
        ShingleSets found = without_gil([&] {
            require_within(span(offsets), values.size());
            return without_lone_values(span(values), span(offsets));
        });
        return std::tuple(to_numpy(std::move(found.values)), to_numpy(std::move(found.offsets)));
    });
    m.def("shared_facts", [](In<u64> values, In<u64> facts, In<i64> offsets, In<i64> left, In<i64> right) {
        return as_matrix(without_gil([&] {
            require_within(span(offsets), values.size());
            require_pairs(left, right, offsets.size() - 1);
            require(facts.size() == values.size(), "every value needs its facts");
            for (const u64 one : span(facts)) require((one & ~FACT_BITS) == 0, "a weight of facts must be below 65,536");
            return shared_facts(span(values), span(facts), span(offsets), span(left), span(right));
        }));
    });
    m.def("shared_runs", [](In<u64> tokens, In<i64> token_offsets, u64 size, In<u64> values, In<i64> offsets, In<i64> left,
                            In<i64> right) {
        return as_matrix(without_gil([&] {
            require_within(span(token_offsets), tokens.size());
            require_within(span(offsets), values.size());
            require(token_offsets.size() == offsets.size(), "every document needs its set");
            require_pairs(left, right, offsets.size() - 1);
            PlacedShingles placed(span(tokens), span(token_offsets), size, span(values), span(offsets));
            return shared_runs(span(values), span(offsets), placed, span(left), span(right));
        }));
    });
}

}  // namespace roughly
