// Bindings of vocabularies and lexicons: terms numbered, counted and looked up.

#include <cstring>

#include "bind.hpp"
#include "frequency.hpp"
#include "vocabulary.hpp"

namespace roughly {

namespace {

UnicodeTable unicode_table(const In<u16>& stage1, const In<u32>& stage2) {
    if (stage1.size() < STAGE1) throw nb::value_error("stage1 must have an entry for every block of 256 code points");
    return {stage1.data(), stage2.data()};
}

}  // namespace

void bind_frequency(nb::module_& m) {
    m.def("largest_piece", [](In<u8> data, In<i64> offsets) {
        return without_gil([&] { return largest_piece(span(data), span(offsets)); });
    });
    m.def("number_tokens",
          [](In<u8> data, In<i64> offsets, In<u16> stage1, In<u32> stage2, Out<u64> scratch, Out<u64> slots,
             Out<u64> hashes, Out<i64> ends, Out<u8> text, Out<u32> numbers, Out<i64> token_offsets, Out<i64> state) {
              static_assert(sizeof(NumberingState) == 5 * sizeof(i64));
              const UnicodeTable table = unicode_table(stage1, stage2);
              return without_gil([&] {
                  NumberingState now;
                  std::memcpy(&now, state.data(), sizeof(now));
                  const VocabularyArrays terms{span(slots), span(hashes), span(ends), span(text)};
                  const Short lacking = number_tokens(span(data), span(offsets), table, span(scratch), terms,
                                                      span(numbers), span(token_offsets), now);
                  std::memcpy(state.data(), &now, sizeof(now));
                  return static_cast<int>(lacking);
              });
          });
    m.def("fill_slots", [](Out<u64> slots, In<u64> hashes, u64 count) {
        without_gil([&] { fill_slots(span(slots), span(hashes), count); });
    });
    m.def("count_documents", [](In<u32> numbers, In<i64> offsets, u64 first_document, Out<u64> counts) {
        without_gil([&] { count_documents(span(numbers), span(offsets), first_document, counts.data()); });
    });
    m.def("put_targets", [](In<u32> numbers, In<i64> offsets, In<u32> targets, Out<u32> out, Out<i64> out_offsets) {
        without_gil([&] {
            put_targets(span(numbers), span(offsets), targets.data(), out.data(), span(out_offsets));
        });
    });
    m.def("gather_text", [](In<u8> text, In<i64> starts, In<i64> ends, Out<u8> out) {
        without_gil([&] { gather_text(text.data(), span(starts), span(ends), out.data()); });
    });
    m.def("classify_terms", [](In<u8> text, In<i64> ends, Out<u8> out) {
        without_gil([&] { classify_terms(text.data(), span(ends), out.data()); });
    });
    m.def("look_up", [](In<u64> wanted, In<u64> hashes, In<u32> directory, In<u32> counts, u64 shift) {
        return to_numpy(without_gil([&] {
            Buffer<u32> out(wanted.size());
            look_up(span(wanted), span(hashes), span(directory), span(counts), shift, out.data());
            return out;
        }));
    });
}

}  // namespace roughly
