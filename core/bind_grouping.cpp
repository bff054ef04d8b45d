// Bindings of grouping: which documents share a key.

#include "bind_rows.hpp"
#include "grouping.hpp"

namespace roughly {

namespace {

void require_rows(const In<u64>& keys, const In<u32>& members) {
    require(keys.size() == members.size(), "every key needs a member");
}

void require_filter(std::size_t words) {
    require(std::has_single_bit(words), "a filter of keys must be a power of two of words long");
}

Share share(i64 number, i64 bits) {
    require(0 <= bits && bits < 64, "a share has 0 to 63 bits");
    return {number, static_cast<u64>(bits)};
}

template <typename F>
Numpy<bool> flags(std::size_t size, F&& fill) {
    return to_numpy(without_gil([&] {
        Buffer<bool> out(size);
        fill(out.span());
        return out;
    }));
}

auto as_tuple(KeyRows&& rows) {
    return std::tuple(to_numpy(std::move(rows.keys)), to_numpy(std::move(rows.members)));
}

}  // namespace

void bind_grouping(nb::module_& m) {
    m.def("spread_key", &spread_key);
    m.def("mark_keys", [](In<u64> keys, In<u32> members, i64 number, i64 bits, Out<u64> once, Out<u64> twice) {
        require_rows(keys, members);
        require_filter(once.size());
        require(once.size() == twice.size(), "both filters must have the same size");
        without_gil([&] { mark_keys(span(keys), span(members), share(number, bits), span(once), span(twice)); });
    });
    m.def("count_shared", [](In<u64> keys, In<u32> members, i64 number, i64 bits, In<u64> twice) {
        require_rows(keys, members);
        require_filter(twice.size());
        return without_gil([&] { return count_shared(span(keys), span(members), share(number, bits), span(twice)); });
    });
    m.def("select_shared", [](In<u64> keys, In<u32> members, i64 number, i64 bits, In<u64> twice, i64 part,
                              i64 part_bits) {
        require_rows(keys, members);
        require_filter(twice.size());
        return as_tuple(without_gil([&] {
            return select_shared(span(keys), span(members), share(number, bits), span(twice), share(part, part_bits));
        }));
    });
    m.def("sort_rows", [](In<u64> keys, In<u32> members, i64 bits) {
        require_rows(keys, members);
        return as_tuple(without_gil([&] { return sort_rows(span(keys), span(members), share(0, bits).bits); }));
    });
    m.def("find_buckets", [](In<u64> keys, In<u32> members, bool probing, i64 most) {
        require_rows(keys, members);
        KeyBuckets found = without_gil([&] { return find_buckets(span(keys), span(members), probing, most); });
        return std::tuple(to_numpy(std::move(found.sizes)), to_numpy(std::move(found.members)),
                              to_numpy(std::move(found.hashes)), found.too_common);
    });
    m.def("add_to_table", [](In<u64> hashes, Out<u64> table) {
        require(std::has_single_bit(table.size()), "a table must be a power of two long");
        return flags(hashes.size(), [&](std::span<bool> out) { add_to_table(span(hashes), span(table), out); });
    });
    m.def("members_of_used", [](In<u32> sizes, In<u32> members, In<bool> is_used) {
        require(sizes.size() == is_used.size(), "every bucket needs a flag");
        return to_numpy(without_gil([&] {
            u64 total = 0;
            for (const u32 size : span(sizes)) total += size;
            require(total <= members.size(), "buckets must stay within the members");
            return members_of_used(span(sizes), span(members), span(is_used));
        }));
    });
    m.def("count_members", [](In<u32> members, Out<i64> counts) {
        without_gil([&] { count_members(span(members), span(counts)); });
    });
    m.def("transpose", [](In<i64> starts, In<u32> members, In<bool> is_probe, i64 rows, unsigned threads) {
        require(is_probe.size() == 0 || is_probe.size() == members.size(), "every member needs a flag");
        require(0 <= rows && rows < i64{NO_MEMBER}, "there can be no such number of rows");
        Transposed found = without_gil([&] {
            require_rising_offsets(span(starts), members.size());
            const unsigned used = thread_count(threads);
            return transpose(span(starts), span(members), span(is_probe), static_cast<std::size_t>(rows), used,
                             [used](std::size_t n, std::size_t chunk, auto&& body) {
                                 parallel_for_with_signals(n, used, chunk, body);
                             });
        });
        return std::tuple(to_numpy(std::move(found.offsets)), to_numpy(std::move(found.columns)),
                          to_numpy(std::move(found.flags)));
    });
    m.def("find_marked", [](In<u64> keys, In<u64> marks) {
        require_filter(marks.size());
        return flags(keys.size(), [&](std::span<bool> out) { find_marked(span(keys), span(marks), out); });
    });
}

}  // namespace roughly
