// Bindings of the components of the candidate graph, and of their resolution on several threads.

#include <bit>
#include <chrono>

#include "bind_resolve.hpp"
#include "candidate_components.hpp"

namespace roughly {

namespace {

auto loop_on(unsigned threads) {
    return [threads](std::size_t n, std::size_t chunk, auto&& body) {
        parallel_for_with_signals(n, threads, chunk, body);
    };
}

// Looks for Ctrl-C now and then, also where each loop is too short to do so.
class Poll {
public:
    void operator()() {
        const auto now = std::chrono::steady_clock::now();
        if (now - polled_ < std::chrono::milliseconds(50)) return;
        polled_ = now;
        check_signals();
    }

private:
    std::chrono::steady_clock::time_point polled_ = std::chrono::steady_clock::now();
};

auto as_tuple(Resolved&& found) {
    return std::tuple(rows_to_numpy<i32>(std::move(found.pairs)), rows_to_numpy<i32>(std::move(found.near)), found.met,
                      found.stop);
}

void require_offsets(std::span<const i64> offsets, std::size_t entries) {
    require(!offsets.empty() && offsets.back() == static_cast<i64>(entries), "offsets must cover all entries");
}

// Refuses a block of documents that lacks something.
void require_block(i64 start, i64 stop, const SetsAtHand& at_hand, std::span<const i64> ranks) {
    require(at_hand.first <= start && stop - at_hand.first <= static_cast<i64>(at_hand.rows.size()),
            "every document needs a set");
    require(stop <= static_cast<i64>(ranks.size()), "every document needs a rank");
}

void bind_order(nb::module_& m) {
    m.def("candidate_components", [](In<i64> doc_offsets, In<u32> doc_buckets, In<i64> starts, unsigned threads) {
        CandidateComponents found = without_gil([&] {
            require_offsets(span(doc_offsets), doc_buckets.size());
            require_offsets(span(starts), doc_buckets.size());
            return find_candidate_components(span(doc_offsets), span(doc_buckets), span(starts), loop_on(threads));
        });
        return std::tuple(to_numpy(std::move(found.order)), to_numpy(std::move(found.cuts)),
                          to_numpy(std::move(found.work)));
    });
    m.def("linked_roots", [](In2<i32> links, i64 documents, unsigned threads) {
        return to_numpy(without_gil([&] {
            require(links.shape(0) == 0 || links.shape(1) == 2, "a link has two columns");
            for (const i32 d : span(links)) require(d >= 0 && d < documents, "links are between documents");
            return find_linked_roots(matrix(links), static_cast<std::size_t>(documents), loop_on(threads));
        }));
    });
    m.def("reorder_buckets", [](In<i64> doc_offsets, In<u32> doc_buckets, In<bool> asks, In<i64> order,
                                unsigned threads) {
        ReorderedBuckets found = without_gil([&] {
            require_offsets(span(doc_offsets), doc_buckets.size());
            require(asks.size() == 0 || asks.size() == doc_buckets.size(), "every bucket of a document needs a flag");
            require(order.size() + 1 == doc_offsets.size(), "every document has one place in the order");
            require_below(span(order), order.size(), "the order must hold numbers of documents");
            return reorder_buckets(span(doc_offsets), span(doc_buckets), span(asks), span(order), loop_on(threads));
        });
        return std::tuple(to_numpy(std::move(found.doc_offsets)), to_numpy(std::move(found.doc_buckets)),
                          to_numpy(std::move(found.flags)));
    });
    m.def("draw_bitmaps_of", [](nb::handle held, In<i64> rows, Out2<u64> bitmaps, i64 first, unsigned threads) {
        const SetsAtHand at_hand = sets_at_hand(held, span(rows), first);
        const Matrix<u64> drawn = matrix(bitmaps);
        require(first >= 0 && static_cast<i64>(rows.size()) <= drawn.rows - first, "every set needs a bitmap");
        require(drawn.width == 0 || std::has_single_bit(static_cast<u64>(drawn.width)),
                "a bitmap has a power of two of words");
        without_gil([&] {
            if (drawn.width == 0) return;
            const std::span<const i64> offsets = at_hand.sets.offsets;
            loop_on(threads)(rows.size(), 256, [&](std::size_t begin, std::size_t end, unsigned) {
                for (auto d = first + static_cast<i64>(begin); d < first + static_cast<i64>(end); ++d) {
                    const i64 from = offsets[at_hand.row(d)], to = offsets[at_hand.row(d) + 1];
                    draw_bitmap({at_hand.sets.values.data() + from, at_hand.sets.values.data() + to}, drawn.row(d),
                                drawn.width);
                }
            });
        });
    });
    m.def("sort_pairs", [](In2<i32> rows, i64 count) {
        return rows_to_numpy<i32>(without_gil([&] {
            require(rows.shape(1) == 5 && count >= 0, "a pair has five columns");
            const std::span pairs(reinterpret_cast<const ScoredPair*>(rows.data()), rows.shape(0));
            for (const ScoredPair& pair : pairs) require(pair.d >= 0 && pair.d < count, "pairs are of documents");
            return sort_pairs(pairs, static_cast<std::size_t>(count));
        }));
    });
}

}  // namespace

void bind_components(nb::module_& m) {
    bind_order(m);
    m.def("resolve_components", [](In<i64> cuts, nb::handle joined, nb::handle documents, Out<i32> stamp,
                                   nb::handle held, In<i64> rows, nb::handle rule, nb::handle limits, In<i64> ranks,
                                   unsigned threads) {
        const Buckets buckets = BucketFields(joined).view();
        const Documents known = DocumentFields(documents).view();
        const SetsAtHand at_hand = sets_at_hand(held, span(rows), known.first);
        const Rule by = rule_of(rule);
        const ResolveLimits limit = limits_of(limits);
        require(cuts.size() > 0 && std::is_sorted(cuts.data(), cuts.data() + cuts.size()), "cuts must rise");
        const i64 start = span(cuts).front(), stop = span(cuts).back();
        require_documents(start, stop, buckets, known, span(stamp));
        require_block(start, stop, at_hand, span(ranks));
        return as_tuple(without_gil([&] {
            const Resolution work{buckets, known, at_hand, by, limit, span(ranks)};
            return resolve_components(span(cuts), work, span(stamp), thread_count(threads), loop_on(threads));
        }));
    });
    m.def("resolve_large_component", [](i64 start, i64 stop, i64 run, i64 enough, nb::handle joined,
                                        nb::handle documents, Out2<i32> stamps, nb::handle held, In<i64> rows,
                                        nb::handle rule, nb::handle limits, In<i64> ranks) {
        const Buckets buckets = BucketFields(joined).view();
        const Documents known = DocumentFields(documents).view();
        const SetsAtHand at_hand = sets_at_hand(held, span(rows), known.first);
        const Rule by = rule_of(rule);
        const ResolveLimits limit = limits_of(limits);
        const Matrix<i32> last_seen = matrix(stamps);
        require(run > 0 && start <= stop && last_seen.rows > 0, "a run has documents, and a thread stamps");
        require_documents(start, stop, buckets, known, {last_seen.data, static_cast<std::size_t>(last_seen.width)});
        require_block(start, stop, at_hand, span(ranks));
        return as_tuple(without_gil([&] {
            const Resolution work{buckets, known, at_hand, by, limit, span(ranks)};
            Poll poll;
            return resolve_large_component(start, stop, run, enough, work, last_seen,
                                           [&](std::size_t n, std::size_t chunk, unsigned threads, auto&& body) {
                                               parallel_for(n, threads, chunk, body, [&] { poll(); });
                                               poll();
                                           });
        }));
    });
}

}  // namespace roughly
