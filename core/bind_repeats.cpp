// Bindings of what finds repeated passages: winnowing, classes of equal places, the walk, units of text.

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include "bind_rows.hpp"
#include "repeats.hpp"
#include "units.hpp"
#include "winnowing.hpp"

namespace roughly {

namespace {

constexpr std::size_t PLACES_AT_ONCE = 1 << 14;

TokenRows rows_of(const In<u64>& tokens, const In<i64>& offsets) {
    i64 last = 0;
    require(offsets.size() > 0, "offsets must hold at least one position");
    for (const i64 offset : span(offsets)) {
        require(offset >= last, "offsets must rise from 0 or more");
        last = offset;
    }
    require(static_cast<u64>(last) <= tokens.size(), "offsets must stay within the tokens");
    return {span(tokens), span(offsets)};
}

void require_filter(std::size_t once, std::size_t twice) {
    require(std::has_single_bit(once) && once == twice, "filters must have the same power of two of words");
}

void require_starts(std::size_t words, const In<u64>& tokens) {
    require(words >= (tokens.size() + 63) / 64, "starts must have a bit per token");
}

// Calls body(begin, end) for ranges of documents on all threads.
template <typename Body>
void for_documents(const TokenRows& rows, unsigned threads, Body&& body) {
    const std::size_t documents = rows.offsets.size() - 1;
    const std::size_t chunk = std::min<std::size_t>(default_chunk(documents, thread_count(threads)), 1024);
    parallel_for_with_signals(documents, threads, chunk,
                              [&](std::size_t begin, std::size_t end, unsigned) { body(begin, end); });
}

using PlaceArrays = std::tuple<In<i64>, In<i64>, i64, In<i64>>;  // starts, lengths, least, firsts

// The places, of which begin … end − 1 are checked: they lie within `tokens` tokens, as do their first places.
PlaceTable places_of(const PlaceArrays& arrays, std::size_t begin, std::size_t end, std::size_t tokens) {
    const auto& [starts, lengths, least, firsts] = arrays;
    const PlaceTable places{span(starts), span(lengths), least, span(firsts)};
    require(lengths.size() == 0 || lengths.size() == starts.size(), "every place needs a length");
    require(firsts.size() == starts.size(), "every place needs a first place");
    require(least >= 0, "a length is 0 or more");
    require(begin <= end && end <= starts.size(), "places must exist");
    const auto lies_within = [&](u64 i) {
        return places.starts[i] >= 0 && places.length(i) >= 0 && places.end(i) <= static_cast<i64>(tokens);
    };
    for (std::size_t i = begin; i < end; i++) {
        require(lies_within(i), "places must lie within the tokens");
        require(places.firsts[i] >= 0 && places.first(i) <= i && lies_within(places.first(i)),
                "a first place is the place itself or one before it");
    }
    return places;
}

std::size_t token_count(const In<i64>& offsets) {
    require(offsets.size() > 0 && offsets.data()[0] >= 0, "offsets must hold at least one position");
    return static_cast<std::size_t>(offsets.data()[offsets.size() - 1]);
}

// The classes of keys whose highest `bits` bits are the same.
ClassList classes_of(std::span<const u64> keys, u64 bits, unsigned threads) {
    constexpr u64 BUCKETS = 256;
    const auto bucket = [&](u64 key) { return (key << bits) >> 56; };
    std::vector<u64> ends(BUCKETS + 1);
    for (const u64 key : keys) ends[bucket(key) + 1]++;
    for (u64 b = 0; b < BUCKETS; b++) ends[b + 1] += ends[b];
    std::vector<KeyedPlace> rows(ends[BUCKETS]);
    std::vector<u64> next(ends.begin(), ends.end() - 1);
    for (std::size_t i = 0; i < keys.size(); i++) rows[next[bucket(keys[i])]++] = {keys[i], i};
    parallel_for_with_signals(BUCKETS, threads, 1, [&](std::size_t begin, std::size_t end, unsigned) {
        for (std::size_t b = begin; b < end; b++) {
            std::sort(rows.begin() + static_cast<i64>(ends[b]), rows.begin() + static_cast<i64>(ends[b + 1]));
        }
    });
    ClassList found;
    append_classes(rows, found);
    return found;
}

}  // namespace

void bind_repeats(nb::module_& m) {
    m.def("mark_fingerprints", [](In<u64> tokens, In<i64> offsets, u64 k, u64 w, Out<u64> once, Out<u64> twice,
                                  unsigned threads) {
        without_gil([&] {
            const TokenRows rows = rows_of(tokens, offsets);
            require_filter(once.size(), twice.size());
            require(k > 0 && w > 0, "windows need a gram, and grams a token");
            for_documents(rows, threads, [&](std::size_t begin, std::size_t end) {
                mark_fingerprints(rows, begin, end, {k, w}, span(once), span(twice));
            });
        });
    });
    m.def("mark_starts", [](In<u64> tokens, In<i64> offsets, u64 k, u64 w, In<u64> filter, Out<u64> starts,
                            unsigned threads) {
        without_gil([&] {
            const TokenRows rows = rows_of(tokens, offsets);
            require_filter(filter.size(), filter.size());
            require_starts(starts.size(), tokens);
            require(k > 0 && w > 0, "windows need a gram, and grams a token");
            for_documents(rows, threads, [&](std::size_t begin, std::size_t end) {
                mark_starts(rows, begin, end, {k, w}, span(filter), span(starts));
            });
        });
    });
    m.def("mark_grams", [](In<u64> tokens, In<i64> offsets, u64 least, In<u64> starts, Out<u64> once, Out<u64> twice,
                           unsigned threads) {
        without_gil([&] {
            const TokenRows rows = rows_of(tokens, offsets);
            require_filter(once.size(), twice.size());
            require_starts(starts.size(), tokens);
            require(least > 0, "a gram needs a token");
            for_documents(rows, threads, [&](std::size_t begin, std::size_t end) {
                mark_grams(rows, begin, end, least, span(starts), span(once), span(twice));
            });
        });
    });
    m.def("clear_starts", [](In<u64> tokens, In<i64> offsets, u64 least, Out<u64> starts, In<u64> twice,
                             unsigned threads) {
        without_gil([&] {
            const TokenRows rows = rows_of(tokens, offsets);
            require_filter(twice.size(), twice.size());
            require_starts(starts.size(), tokens);
            require(least > 0, "a gram needs a token");
            for_documents(rows, threads, [&](std::size_t begin, std::size_t end) {
                clear_starts(rows, begin, end, least, span(twice), span(starts));
            });
        });
    });
    m.def("list_bits", [](In<u64> words) {
        return to_numpy(without_gil([&] {
            u64 count = 0;
            for (const u64 word : span(words)) count += static_cast<u64>(std::popcount(word));
            Buffer<i64> out(count);
            u64 n = 0;
            for (std::size_t at = 0; at < words.size(); at++) {
                for (u64 word = words.data()[at]; word != 0; word &= word - 1) {
                    out[n++] = static_cast<i64>(64 * at) + std::countr_zero(word);
                }
            }
            return out;
        }));
    });
    m.def("gram_keys", [](In<u64> tokens, In<i64> starts, i64 least, unsigned threads) {
        return to_numpy(without_gil([&] {
            require(least > 0, "a gram needs a token");
            for (const i64 start : span(starts)) {
                require(start >= 0 && start + least <= static_cast<i64>(tokens.size()), "grams must lie within the tokens");
            }
            Buffer<u64> keys(starts.size());
            parallel_for_with_signals(starts.size(), threads, PLACES_AT_ONCE,
                                      [&](std::size_t begin, std::size_t end, unsigned) {
                gram_keys(span(tokens), span(starts), begin, end, static_cast<u64>(least), keys.data());
            });
            return keys;
        }));
    });
    m.def("key_classes", [](In<u64> keys, u64 bits, unsigned threads) {
        ClassList found = without_gil([&] {
            require(bits < 56, "a share has keys of its own");
            for (const u64 key : span(keys)) {
                require(bits == 0 || (key ^ keys.data()[0]) >> (64 - bits) == 0, "keys must belong to one share");
            }
            return classes_of(span(keys), bits, threads);
        });
        return std::pair(to_numpy(std::move(found.members)), to_numpy(std::move(found.sizes)));
    });
    m.def("check_classes", [](In<u64> tokens, PlaceArrays arrays, std::size_t begin, std::size_t end, unsigned threads) {
        return to_numpy(without_gil([&] {
            const PlaceTable places = places_of(arrays, begin, end, tokens.size());
            std::vector<std::vector<i64>> found((end - begin) / PLACES_AT_ONCE + 1);
            parallel_for_with_signals(end - begin, threads, PLACES_AT_ONCE,
                                      [&](std::size_t from, std::size_t to, unsigned) {
                check_classes(span(tokens), places, begin + from, begin + to, found[from / PLACES_AT_ONCE]);
            });
            std::vector<i64> wrong;
            for (const auto& some : found) wrong.insert(wrong.end(), some.begin(), some.end());
            return wrong;
        }));
    });
    m.def("count_classes", [](In<i64> offsets, PlaceArrays arrays, std::size_t begin, std::size_t end, Out<u32> counts,
                              Out<u32> documents, Out<u32> last, Out<u8> breaks) {
        without_gil([&] {
            const PlaceTable places = places_of(arrays, begin, end, token_count(offsets));
            const std::size_t size = places.size();
            require(counts.size() == size && documents.size() == size && last.size() == size && breaks.size() == size,
                    "every place needs a row");
            require(offsets.size() < 0xFFFFFFFF, "there are too many documents");
            count_classes(span(offsets), places, begin, end, {span(counts), span(documents), span(last), span(breaks)});
        });
    });
    m.def("list_passages", [](PlaceArrays arrays, In<u8> used, In<u32> counts, In<u32> documents, In<u8> breaks,
                              std::size_t begin, std::size_t end) {
        return rows_to_numpy<i64>(without_gil([&] {
            const PlaceTable places = places_of(arrays, begin, end, std::numeric_limits<i64>::max());
            const std::size_t size = places.size();
            require(used.size() == size && counts.size() == size && documents.size() == size && breaks.size() == size,
                    "every place needs a row");
            return list_passages(places, span(used), span(counts), span(documents), span(breaks), begin, end);
        }));
    });
    m.def("repeated_runs", [](In<i64> offsets, PlaceArrays arrays, In<u8> used, std::size_t begin, std::size_t end) {
        return rows_to_numpy<i64>(without_gil([&] {
            const PlaceTable places = places_of(arrays, begin, end, token_count(offsets));
            require(used.size() == places.size(), "every place needs its flag");
            for (std::size_t i = begin; i < end; i++) {
                require(used.data()[places.first(i)] == 0 || places.length(i) > 0, "a run needs a token");
            }
            return repeated_runs(span(offsets), places, span(used), begin, end);
        }));
    });
    m.def("walk_copies", [](In<i64> offsets, In<i64> order, In<u8> reference, PlaceArrays arrays, In<u8> used,
                            std::tuple<Out<i64>, Out<u64>> kept, i64 least_left, bool only_reference) {
        auto found = without_gil([&] {
            const std::size_t documents = offsets.size() - 1, tokens = token_count(offsets);
            require(reference.size() == documents, "every document needs its flag");
            require_below(span(order), documents, "documents must exist");
            const PlaceTable places = places_of(arrays, 0, 0, tokens);
            require(used.size() == places.size(), "every place needs its flag");
            const auto& [firsts, bits] = kept;
            require(firsts.size() == places.size() && 64 * bits.size() >= places.size(), "every place needs its bit");
            CopyWalk walk(places, span(used), {least_left, only_reference}, {span(firsts), span(bits)});
            std::pair<std::vector<RemovedRun>, std::vector<i64>> out;
            std::size_t done = 0;
            for (const i64 d : span(order)) {
                if (++done % 4096 == 0) check_signals();
                const i64 begin = offsets.data()[d], end = offsets.data()[d + 1];
                const auto first = std::lower_bound(places.starts.begin(), places.starts.end(), begin);
                const auto last = std::lower_bound(first, places.starts.end(), end);
                const auto number = [&](auto at) { return static_cast<u64>(at - places.starts.begin()); };
                places_of(arrays, number(first), number(last), tokens);
                if (walk.walk(begin, end, number(first), number(last), reference.data()[d] != 0, out.first)) {
                    out.second.push_back(d);
                }
            }
            return out;
        });
        return std::pair(rows_to_numpy<i64>(std::move(found.first)), to_numpy(std::move(found.second)));
    });
    m.def("unit_ends", [](In<u8> data, In<i64> offsets, i64 kind) {
        auto found = without_gil([&] {
            require(offsets.size() > 0 && kind >= 0 && kind <= 2, "kind must be 0, 1 or 2");
            std::pair<std::vector<i64>, std::vector<i64>> out;
            out.second.push_back(0);
            for (std::size_t d = 0; d + 1 < offsets.size(); d++) {
                const i64 begin = offsets.data()[d], end = offsets.data()[d + 1];
                require(begin >= 0 && begin <= end && static_cast<u64>(end) <= data.size(),
                        "texts must lie within the data");
                append_units(span(data).subspan(static_cast<u64>(begin), static_cast<u64>(end - begin)),
                             UnitKind{kind}, begin, out.first);
                out.second.push_back(static_cast<i64>(out.first.size()));
            }
            return out;
        });
        return std::pair(to_numpy(std::move(found.first)), to_numpy(std::move(found.second)));
    });
}

}  // namespace roughly
