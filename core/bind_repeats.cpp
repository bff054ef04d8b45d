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

void require_starts(const Out<u64>& starts, const In<u64>& tokens) {
    require(starts.size() >= (tokens.size() + 63) / 64, "starts must have a bit per token");
}

// Calls body(begin, end) for ranges of documents on all threads.
template <typename Body>
void for_documents(const TokenRows& rows, unsigned threads, Body&& body) {
    const std::size_t documents = rows.offsets.size() - 1;
    const std::size_t chunk = std::min<std::size_t>(default_chunk(documents, thread_count(threads)), 1024);
    parallel_for_with_signals(documents, threads, chunk,
                              [&](std::size_t begin, std::size_t end, unsigned) { body(begin, end); });
}

PlaceTable places_of(const In<u64>& tokens, const In<i64>& starts, const In<i64>& lengths, i64 least) {
    const PlaceTable places{span(starts), span(lengths), least};
    require(lengths.size() == 0 || lengths.size() == starts.size(), "every place needs a length");
    require(least >= 0, "a length is 0 or more");
    for (std::size_t i = 0; i < starts.size(); i++) {
        require(places.starts[i] >= 0 && places.length(i) >= 0 && places.end(i) <= static_cast<i64>(tokens.size()),
                "places must lie within the tokens");
    }
    return places;
}

ClassList classes_of_share(std::span<const u64> keys, std::span<const u8> used, u64 share, u64 bits,
                           unsigned threads) {
    constexpr u64 BUCKETS = 256;
    const auto has = [&](std::size_t i) {
        return (used.empty() || used[i] != 0) && (bits == 0 || keys[i] >> (64 - bits) == share);
    };
    const auto bucket = [&](u64 key) { return (key << bits) >> 56; };
    std::vector<u64> ends(BUCKETS + 1);
    for (std::size_t i = 0; i < keys.size(); i++) {
        if (has(i)) ends[bucket(keys[i]) + 1]++;
    }
    for (u64 b = 0; b < BUCKETS; b++) ends[b + 1] += ends[b];
    std::vector<KeyedPlace> rows(ends[BUCKETS]);
    std::vector<u64> next(ends.begin(), ends.end() - 1);
    for (std::size_t i = 0; i < keys.size(); i++) {
        if (has(i)) rows[next[bucket(keys[i])]++] = {keys[i], i};
    }
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
            require_starts(starts, tokens);
            require(k > 0 && w > 0, "windows need a gram, and grams a token");
            for_documents(rows, threads, [&](std::size_t begin, std::size_t end) {
                mark_starts(rows, begin, end, {k, w}, span(filter), span(starts));
            });
        });
    });
    m.def("keep_repeated_starts", [](In<u64> tokens, In<i64> offsets, u64 least, Out<u64> starts, Out<u64> once,
                                     Out<u64> twice, unsigned threads) {
        without_gil([&] {
            const TokenRows rows = rows_of(tokens, offsets);
            require_filter(once.size(), twice.size());
            require_starts(starts, tokens);
            require(least > 0, "a gram needs a token");
            for_documents(rows, threads, [&](std::size_t begin, std::size_t end) {
                mark_grams(rows, begin, end, least, span(starts), span(once), span(twice));
            });
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
    m.def("key_classes", [](In<u64> keys, In<u8> used, u64 share, u64 bits, unsigned threads) {
        ClassList found = without_gil([&] {
            require(bits < 64 && (used.size() == 0 || used.size() == keys.size()), "every key needs its flag");
            return classes_of_share(span(keys), span(used), share, bits, threads);
        });
        return std::pair(to_numpy(std::move(found.members)), to_numpy(std::move(found.sizes)));
    });
    m.def("check_classes", [](In<u64> tokens, In<i64> starts, In<i64> lengths, i64 least, In<u32> classes,
                              In<i64> firsts, unsigned threads) {
        return to_numpy(without_gil([&] {
            const PlaceTable places = places_of(tokens, starts, lengths, least);
            require(classes.size() == starts.size(), "every place needs a class");
            require_below(span(firsts), starts.size(), "first places must exist");
            for (const u32 c : span(classes)) require(c == NO_CLASS || c < firsts.size(), "classes must exist");
            std::vector<std::vector<i64>> found(starts.size() / PLACES_AT_ONCE + 1);
            parallel_for_with_signals(starts.size(), threads, PLACES_AT_ONCE,
                                      [&](std::size_t begin, std::size_t end, unsigned) {
                check_classes(span(tokens), places, span(classes), span(firsts), begin, end,
                              found[begin / PLACES_AT_ONCE]);
            });
            std::vector<i64> wrong;
            for (const auto& some : found) wrong.insert(wrong.end(), some.begin(), some.end());
            return wrong;
        }));
    });
    m.def("class_documents", [](In<i64> offsets, In<i64> starts, In<i64> members, In<i64> class_offsets,
                                unsigned threads) {
        return to_numpy(without_gil([&] {
            require(class_offsets.size() > 0 && offsets.size() > 0, "offsets must hold at least one position");
            require_below(span(members), starts.size(), "places must exist");
            for (const i64 start : span(starts)) {
                require(start >= 0 && start < offsets.data()[offsets.size() - 1], "places must lie within the documents");
            }
            for (std::size_t c = 0; c < class_offsets.size(); c++) {
                require(class_offsets.data()[c] >= (c > 0 ? class_offsets.data()[c - 1] : 0) &&
                            class_offsets.data()[c] <= static_cast<i64>(members.size()),
                        "classes must lie within the members");
            }
            Buffer<i64> counts(class_offsets.size() - 1);
            parallel_for_with_signals(counts.size(), threads, PLACES_AT_ONCE,
                                      [&](std::size_t begin, std::size_t end, unsigned) {
                count_class_documents(span(offsets), span(starts), span(members), span(class_offsets), begin, end,
                                      counts.data());
            });
            return counts;
        }));
    });
    m.def("repeated_runs", [](In<i64> offsets, In<i64> starts, In<i64> lengths, i64 least, In<u32> classes,
                              In<u8> used) {
        return rows_to_numpy<i64>(without_gil([&] {
            require(classes.size() == starts.size(), "every place needs a class");
            require(lengths.size() == 0 || lengths.size() == starts.size(), "every place needs a length");
            require(offsets.size() > 0, "offsets must hold at least one position");
            for (std::size_t i = 0; i < starts.size(); i++) {
                const u32 c = classes.data()[i];
                require(c == NO_CLASS || (c < used.size() && starts.data()[i] >= 0 &&
                                          starts.data()[i] < offsets.data()[offsets.size() - 1]),
                        "classes must exist, and their places lie within the documents");
            }
            return repeated_runs(span(offsets), {span(starts), span(lengths), least}, span(classes), span(used));
        }));
    });
    m.def("walk_copies", [](In<i64> offsets, In<i64> order, In<u8> reference, In<i64> starts, In<i64> lengths,
                            i64 least, In<u32> classes, In<u8> used, i64 least_left, bool only_reference) {
        auto found = without_gil([&] {
            const std::size_t documents = offsets.size() - 1;
            require(offsets.size() > 0 && reference.size() == documents, "every document needs its flag");
            require_below(span(order), documents, "documents must exist");
            require(classes.size() == starts.size(), "every place needs a class");
            require(lengths.size() == 0 || lengths.size() == starts.size(), "every place needs a length");
            for (const u32 c : span(classes)) require(c == NO_CLASS || c < used.size(), "classes must exist");
            const PlaceTable places{span(starts), span(lengths), least};
            CopyWalk walk(places, span(classes), span(used), {least_left, only_reference});
            std::pair<std::vector<RemovedRun>, std::vector<i64>> out;
            std::size_t done = 0;
            for (const i64 d : span(order)) {
                if (++done % 4096 == 0) check_signals();
                const i64 begin = offsets.data()[d], end = offsets.data()[d + 1];
                const auto at = [&](i64 token) {
                    return static_cast<u64>(std::lower_bound(places.starts.begin(), places.starts.end(), token) -
                                            places.starts.begin());
                };
                if (walk.walk(begin, end, at(begin), at(end), reference.data()[d] != 0, out.first)) {
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
