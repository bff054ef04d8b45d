// Bindings of what finds repeated passages: winnowing, classes of equal places, the walk, units of text.

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bind_files.hpp"
#include "bind_rows.hpp"
#include "first_places.hpp"
#include "line_copy.hpp"
#include "repeats.hpp"
#include "token_numbers.hpp"
#include "units.hpp"
#include "winnowing.hpp"

namespace roughly {

namespace {

constexpr std::size_t PLACES_AT_ONCE = 1 << 14, COMPARED_AT_ONCE = 1 << 11;
constexpr std::size_t WALKED_AT_ONCE = 1 << 20, DOCUMENTS_AT_ONCE = 16;  // places, documents

TokenRows rows_of(const In<u32>& tokens, const In<i64>& offsets) {
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

void require_starts(std::size_t words, const In<u32>& tokens) {
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

// starts, lengths, least, firsts, repeated, ranks
using PlaceArrays = std::tuple<In<i64>, In<i64>, i64, In<i64>, In<u64>, In<u32>>;

// The places; those from `begin` to `end` exist.
PlaceTable table_of(const PlaceArrays& arrays, std::size_t begin, std::size_t end) {
    const auto& [starts, lengths, least, firsts, repeated, ranks] = arrays;
    require(lengths.size() == 0 || lengths.size() == starts.size(), "every place needs a length");
    require(firsts.size() == starts.size(), "every place needs a first place");
    require(least >= 0, "a length is 0 or more");
    require(begin <= end && end <= starts.size(), "places must exist");
    return {span(starts), span(lengths), least, span(firsts), span(repeated), span(ranks), 0};
}

// Refuses places from `begin` to `end` that do not lie within `tokens` tokens, or whose first places do not.
void require_places(const PlaceTable& places, std::size_t begin, std::size_t end, std::size_t tokens) {
    const auto lies_within = [&](u64 i) {
        return places.starts[i] >= 0 && places.length(i) >= 0 && places.end(i) <= static_cast<i64>(tokens);
    };
    for (std::size_t i = begin; i < end; i++) {
        require(lies_within(i), "places must lie within the tokens");
        require(places.firsts[i] >= 0 && places.first(i) <= i && lies_within(places.first(i)),
                "a first place is the place itself or one before it");
    }
}

// The places, of which begin … end − 1 are checked: they lie within `tokens` tokens, as do their first places.
PlaceTable places_of(const PlaceArrays& arrays, std::size_t begin, std::size_t end, std::size_t tokens) {
    const PlaceTable places = table_of(arrays, begin, end);
    require_places(places, begin, end, tokens);
    return places;
}
// The same with `classes` numbered classes.
PlaceTable numbered(const PlaceArrays& arrays, std::size_t begin, std::size_t end, std::size_t tokens,
                    std::size_t classes) {
    PlaceTable places = places_of(arrays, begin, end, tokens);
    require(64 * places.repeated.size() >= places.size() && places.ranks.size() == places.repeated.size(),
            "every place needs its bit");
    places.classes = classes;
    return places;
}

std::size_t token_count(const In<i64>& offsets) {
    require(offsets.size() > 0 && offsets.data()[0] >= 0, "offsets must hold at least one position");
    return static_cast<std::size_t>(offsets.data()[offsets.size() - 1]);
}

// Rows (key, place) as a matrix of two columns.
std::span<KeyedPlace> keyed_places(const Out2<i64>& rows) {
    require(rows.shape(1) == 2, "rows must have two columns");
    return {reinterpret_cast<KeyedPlace*>(rows.data()), rows.shape(0)};
}

std::vector<std::span<u64>> spans_of(const std::vector<Out<u64>>& arrays) {
    std::vector<std::span<u64>> spans;
    for (const auto& array : arrays) spans.push_back(span(array));
    return spans;
}

// Runs a body for ranges on all threads.
auto on_threads(unsigned threads) {
    return [threads](std::size_t n, std::size_t chunk, auto&& body) {
        parallel_for_with_signals(n, threads, chunk,
                                  [&](std::size_t begin, std::size_t end, unsigned) { body(begin, end); });
    };
}

}  // namespace

void bind_repeats(nb::module_& m) {
    m.def("mark_fingerprints", [](In<u32> tokens, In<i64> offsets, u64 k, u64 w, Out<u64> once, Out<u64> twice,
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
    m.def("mark_starts", [](In<u32> tokens, In<i64> offsets, u64 k, u64 w, In<u64> filter, Out<u64> starts,
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
    m.def("mark_grams", [](In<u32> tokens, In<i64> offsets, u64 least, In<u64> starts, Out<u64> once, Out<u64> twice,
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
    m.def("clear_starts", [](In<u32> tokens, In<i64> offsets, u64 least, Out<u64> starts, In<u64> twice,
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
    m.def("append_in_pieces", [](int file, In<u8> data, std::size_t piece) {
        with_files([&] {
            require(piece > 0, "a piece needs a byte");
            detail::transfer_all(0, data.size(), [&](off_t, std::size_t left) {
                return ::write(file, data.data() + (data.size() - left), std::min(left, piece));
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
    m.def("gram_keys", [](In<u32> tokens, In<i64> starts, i64 least, unsigned threads) {
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
    m.def("hash_numbers", [](In<u32> values, In<i64> offsets) {
        return to_numpy(without_gil([&] { return hash_sequences(span(values), span(offsets)); }), 2);
    });
    m.def("sort_by_share", [](In<u32> share, In<i64> left, In<u32> right, u64 shares,
                              std::tuple<Out<i64>, Out<u32>> rows, unsigned threads) {
        return to_numpy(without_gil([&] {
            const auto& [lefts, rights] = rows;
            const std::size_t n = share.size();
            require(left.size() == n && right.size() == n && lefts.size() == n && rights.size() == n,
                    "every row needs its share");
            i64* const left_out = lefts.data();
            u32* const right_out = rights.data();
            std::vector<u64> begins = distribute(
                n, shares, on_threads(threads),
                [&](std::size_t i) {
                    require(share.data()[i] < shares, "shares must exist");
                    return share.data()[i];
                },
                [&, left_out, right_out](std::size_t i, u64 at) {
                    left_out[at] = left.data()[i];
                    right_out[at] = right.data()[i];
                });
            return std::vector<i64>(begins.begin(), begins.end());
        }));
    });
    m.def("first_places", [](Out2<i64> rows, unsigned threads) {
        without_gil([&] { first_places(keyed_places(rows), on_threads(threads)); });
    });
    m.def("put_firsts", [](In<i64> found, In<u32> places, i64 begin, Out<i64> firsts, unsigned threads) {
        without_gil([&] {
            require(found.size() == places.size(), "every place needs its first place");
            const auto run = on_threads(threads);
            run(firsts.size(), PLACES_AT_ONCE, [&](std::size_t from, std::size_t to) {
                for (std::size_t i = from; i < to; i++) firsts.data()[i] = begin + static_cast<i64>(i);
            });
            run(found.size(), PLACES_AT_ONCE, [&](std::size_t from, std::size_t to) {
                for (std::size_t i = from; i < to; i++) {
                    require(places.data()[i] < firsts.size(), "places must lie in the block");
                    firsts.data()[places.data()[i]] = found.data()[i];
                }
            });
        });
    });
    m.def("check_classes", [](In<u32> tokens, PlaceArrays arrays, std::size_t begin, std::size_t end, unsigned threads) {
        return to_numpy(without_gil([&] {
            const PlaceTable places = table_of(arrays, begin, end);
            std::vector<std::vector<i64>> found((end - begin) / COMPARED_AT_ONCE + 1);
            parallel_for_with_signals(end - begin, threads, COMPARED_AT_ONCE,
                                      [&](std::size_t from, std::size_t to, unsigned) {
                require_places(places, begin + from, begin + to, tokens.size());
                check_classes(span(tokens), places, begin + from, begin + to, found[from / COMPARED_AT_ONCE]);
            });
            std::vector<i64> wrong;
            for (const auto& some : found) wrong.insert(wrong.end(), some.begin(), some.end());
            return wrong;
        }));
    });
    m.def("mark_repeated", [](In<i64> firsts, std::size_t begin, std::size_t end, Out<u64> repeated, unsigned threads) {
        without_gil([&] {
            require(begin <= end && end <= firsts.size() && 64 * repeated.size() >= firsts.size(),
                    "every place needs its bit");
            require_below(span(firsts).subspan(begin, end - begin), firsts.size(), "first places must exist");
            on_threads(threads)(end - begin, PLACES_AT_ONCE, [&](std::size_t from, std::size_t to) {
                mark_repeated(span(firsts), begin + from, begin + to, span(repeated));
            });
        });
    });
    m.def("class_numbers", [](PlaceArrays arrays, std::size_t begin, std::size_t end) {
        return to_numpy(without_gil([&] {
            const PlaceTable places = numbered(arrays, begin, end, std::numeric_limits<i64>::max(), ALL_BITS);
            Buffer<i64> numbers(end - begin);
            for (std::size_t i = begin; i < end; i++) {
                numbers[i - begin] = places.is_repeated(i) ? static_cast<i64>(places.number(i)) : -1;
            }
            return numbers;
        }));
    });
    m.def("count_classes", [](In<i64> offsets, PlaceArrays arrays, std::size_t begin, std::size_t end, Out<u32> counts,
                              Out<u32> documents, Out<u8> breaks, unsigned threads) {
        without_gil([&] {
            const std::size_t size = counts.size(), tokens = token_count(offsets);
            require(size > 0 && documents.size() == size && breaks.size() == size,
                    "every class needs a row, and there is one more");
            const PlaceTable places = numbered(arrays, begin, begin, tokens, size - 1);
            table_of(arrays, begin, end);
            const auto cut = [&](std::size_t at) {
                return begin + at == end ? end : std::min(end, between_documents(span(offsets), places, begin + at));
            };
            on_threads(threads)(end - begin, PLACES_AT_ONCE, [&](std::size_t from, std::size_t to) {
                const std::size_t first = from == 0 ? begin : cut(from), last = cut(to);
                require_places(places, first, last, tokens);
                count_classes(span(offsets), places, first, last, {span(counts), span(documents), span(breaks)});
            });
        });
    });
    m.def("list_passages", [](PlaceArrays arrays, In<u8> used, In<u32> counts, In<u32> documents, In<u8> breaks,
                              std::size_t begin, std::size_t end) {
        return rows_to_numpy<i64>(without_gil([&] {
            const std::size_t size = used.size();
            const PlaceTable places = numbered(arrays, begin, end, std::numeric_limits<i64>::max(), size);
            require(counts.size() == size && documents.size() == size && breaks.size() == size,
                    "every class needs a row");
            return list_passages(places, span(used), span(counts), span(documents), span(breaks), begin, end);
        }));
    });
    m.def("repeated_runs", [](In<i64> offsets, PlaceArrays arrays, In<u8> used, In2<i64> removed, std::size_t begin,
                              std::size_t end) {
        return rows_to_numpy<i64>(without_gil([&] {
            const PlaceTable places = numbered(arrays, begin, end, token_count(offsets), used.size());
            for (std::size_t i = begin; i < end; i++) {
                require(places.length(i) > 0 || !places.counts(i, span(used)), "a run needs a token");
            }
            require(removed.shape(1) == 3, "removed runs must have three columns");
            return runs_with_kept(repeated_runs(span(offsets), places, span(used), begin, end),
                                  {reinterpret_cast<const RemovedRun*>(removed.data()), removed.shape(0)});
        }));
    });
    m.def("walk_copies", [](In<i64> offsets, In<i64> order, In<u8> reference, PlaceArrays arrays, In<u8> used,
                            std::tuple<Out<i64>, Out<u64>> kept, std::tuple<i64, bool> rules, unsigned threads) {
        auto found = without_gil([&] {
            const std::size_t documents = offsets.size() - 1, tokens = token_count(offsets);
            require(reference.size() == documents, "every document needs its flag");
            require_below(span(order), documents, "documents must exist");
            const PlaceTable places = numbered(arrays, 0, 0, tokens, used.size());
            const auto& [firsts, bits] = kept;
            require(firsts.size() == used.size() && 64 * bits.size() >= places.size(), "every class needs its row");
            CopyWalk walk(span(offsets), places, {std::get<0>(rules), std::get<1>(rules)}, {span(firsts), span(bits)});
            std::pair<std::vector<RemovedRun>, std::vector<i64>> out;
            const auto place_at = [&](i64 token) {
                const auto at = std::lower_bound(places.starts.begin(), places.starts.end(), token);
                return static_cast<u64>(at - places.starts.begin());
            };
            std::vector<WalkedDocument> some;
            std::vector<u32> numbers;
            for (std::size_t done = 0; done < order.size();) {
                check_signals();
                some.clear();
                u64 count = 0;
                for (std::size_t at = done; at < order.size() && count < WALKED_AT_ONCE; at++) {
                    const i64 d = order.data()[at], begin = offsets.data()[d], end = offsets.data()[d + 1];
                    some.push_back({begin, end, place_at(begin), place_at(end), {}, reference.data()[d] != 0});
                    require(some.back().first <= some.back().last, "places must be in order");
                    count += some.back().last - some.back().first;
                }
                numbers.resize(count);
                std::span<u32> free = numbers;
                for (WalkedDocument& one : some) {
                    one.numbers = free.first(one.last - one.first);
                    free = free.subspan(one.numbers.size());
                }
                on_threads(threads)(some.size(), DOCUMENTS_AT_ONCE, [&](std::size_t from, std::size_t to) {
                    for (std::size_t i = from; i < to; i++) {
                        require_places(places, some[i].first, some[i].last, tokens);
                        write_numbers(places, span(used), some[i]);
                    }
                });
                for (const WalkedDocument& one : some) {
                    if (walk.walk(one, out.first)) out.second.push_back(order.data()[done]);
                    done++;
                }
            }
            return out;
        });
        return std::pair(rows_to_numpy<i64>(std::move(found.first)), to_numpy(std::move(found.second)));
    });
    m.def("find_numbers", [](std::vector<Out<u64>> tables, In<u64> hashes) {
        return to_numpy(without_gil([&] {
            Buffer<u32> numbers(hashes.size());
            TokenNumbers(spans_of(tables)).find(span(hashes), numbers.data());
            return numbers;
        }));
    });
    m.def("add_numbers", [](std::vector<Out<u64>> tables, In<u64> hashes, Out<u32> numbers, u64 used) {
        return without_gil([&] {
            require(hashes.size() == numbers.size(), "every token needs its number");
            const std::size_t done = TokenNumbers(spans_of(tables)).add(span(hashes), numbers.data(), used);
            return std::pair(done, used);
        });
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
