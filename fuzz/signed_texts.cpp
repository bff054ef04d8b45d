// Texts signed in one pass: the input chooses shingle size, bands and rows, and is a text. The answer is that of the steps
// one after the other, with the baseline's instructions and with the best that the processor has.

#include <algorithm>

#include "target.hpp"
#include "text_signing.hpp"
#include "unicode_table.hpp"

namespace roughly::fuzz {

namespace {

template <typename T>
bool same(const Buffer<T>& a, const Buffer<T>& b) {
    return a.size() == b.size() && std::equal(a.data(), a.data() + a.size(), b.data());
}

}  // namespace

void try_bytes(std::span<const u8> input) {
    Choices choices(input);
    const u64 size = 1 + choices.next(12), bands = 1 + choices.next(9), rows = 1 + choices.next(5);
    const u64 samples = bands * rows, orderings = choices.next(2) == 0 ? samples : (samples + 3) / 4;
    std::vector<u32> multipliers(orderings), increments(orderings);
    for (u64 o = 0; o < orderings; o++) {
        multipliers[o] = static_cast<u32>(mix(2 * o + 1)) | 1;
        increments[o] = static_cast<u32>(mix(2 * o));
    }
    const auto data = alone(choices.rest());
    const i64 length = static_cast<i64>(data.size()), offsets[] = {0, length / 2, length};
    const BandRequest request{size, {multipliers, increments}, bands, rows};

    set_vector_level(VectorLevel::avx512);
    const SignedTexts best = sign_texts(data, offsets, unicode_table(), request);
    const TokenLists tokens = tokenise(data, offsets, unicode_table());
    must(same(best.raw, hash_bytes(data, offsets)), "fingerprints of bytes");
    must(same(best.lexical, hash_sequences(tokens.hashes.span(), tokens.offsets.span())), "fingerprints of tokens");
    must(same(best.keys, band_keys(tokens.hashes.span(), tokens.offsets.span(), size, request.orderings, bands, rows)), "keys");
    for (int level = 0; level < 2; level++) {
        set_vector_level(static_cast<VectorLevel>(level));
        must(same(best.keys, sign_texts(data, offsets, unicode_table(), request).keys), "keys at every vector level");
    }
}

}  // namespace roughly::fuzz
