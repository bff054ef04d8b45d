// The tokeniser: canonical tokens as 64-bit hashes, straight from the bytes of an Arrow column.
//
// Two passes over each document, which was measured to be 2.5 times as fast as one:
//
// 1. the edges of tokens, by `edges`;
// 2. the hashes of the bytes between two edges, by `token_hashes`.
//
// Text with a byte above 127 is first rewritten by `canonicalise`, and passes 1 and 2 then read the rewritten form.
// The hash of a token is thus a function of its canonical UTF-8 bytes alone.
//
// Documents are processed in pieces that end after an ASCII separator, which no token and no rule crosses.
// So scratch memory is that of one piece, and a page with a few accents uses the slow path only around them. Positions
// are uint32 within a piece; a text without any separator is one piece, which bounds a document to LONGEST_DOCUMENT.
#pragma once

#include <algorithm>
#include <span>

#include "buffer.hpp"
#include "canonical.hpp"
#include "classes.hpp"
#include "edges.hpp"
#include "token_hashes.hpp"
#include "words.hpp"

namespace roughly {

inline constexpr u64 PIECE = 1 << 14;
inline constexpr u64 LONGEST_DOCUMENT = ((u64{1} << 32) - 16) / GROWTH;

// Scratch memory of tokenising a piece.
struct TokenScratch {
    Buffer<u32> edges;       // where tokens start and end
    Buffer<u32> longs;       // the edges of those that are longer than eight bytes
    Buffer<u8> canonical;    // canonical form
    Buffer<Source> sources;  // where its bytes come from, if requested

    // Scratch memory for a piece of this many bytes.
    void fit(u64 piece, bool with_sources = false) {
        const u64 room = GROWTH * piece + 16;
        if (edges.size() >= room) return;
        edges = Buffer<u32>(room);
        longs = Buffer<u32>(room / 2 + 8);
        canonical = Buffer<u8>(room);
        if (with_sources) sources = Buffer<Source>(room);
    }
};

// The end of the piece that begins at `at`: after the first ASCII separator after PIECE bytes, or `end`.
inline u64 piece_end(const u8* data, u64 at, u64 end) {
    if (end - at <= PIECE) return end;
    at += PIECE;
    while (at < end && (data[at] > 127 || in_word(data[at]))) at++;
    return std::min(at + 1, end);
}

// Finds the tokens of the piece data[at:stop].
template <bool noting = false>
TokenPiece find_tokens(std::span<const u8> data, u64 at, u64 stop, const UnicodeTable& table, TokenScratch& scratch) {
    const u8* text = data.data() + at;
    const u64 length = stop - at;
    scratch.fit(length, noting);
    if (is_ascii(text, length)) {
        const u64 count = find_edges<High::separates>(text, length, scratch.edges.data());
        return {text, data.size() - at, count, false};
    }
    u8* canonical = scratch.canonical.data();
    const u64 written = canonicalise<noting>(text, length, table, canonical, scratch.sources.data());
    const u64 count = find_edges<High::belongs>(canonical, written, scratch.edges.data());
    return {canonical, scratch.canonical.size(), count, true};
}

// Appends the hashes of the tokens of data[at:end] to hashes[n:], which grows; returns the new end.
inline u64 put_tokens(std::span<const u8> data, u64 at, u64 end, const UnicodeTable& table, TokenScratch& scratch,
                      Buffer<u64>& hashes, u64 n) {
    while (at < end) {
        const u64 stop = piece_end(data.data(), at, end);
        const TokenPiece piece = find_tokens(data, at, stop, table, scratch);
        const u64 count = piece.edges / 2;
        if (n + count > hashes.size()) hashes.resize(hashes.size() + hashes.size() / 2 + count);
        hash_between(piece, scratch.edges.data(), scratch.longs.data(), hashes.data() + n);
        n += count;
        at = stop;
    }
    return n;
}

// Of document i: hashes[offsets[i]:offsets[i + 1]].
struct TokenLists {
    Buffer<u64> hashes;
    Buffer<i64> offsets;
};

// Hashes of the tokens of each document data[offsets[i]:offsets[i + 1]], and where each document's begin.
inline TokenLists tokenise(std::span<const u8> data, std::span<const i64> offsets, const UnicodeTable& table) {
    const std::size_t documents = offsets.size() - 1;
    TokenScratch scratch;
    TokenLists tokens{Buffer<u64>(static_cast<u64>(offsets[documents] - offsets[0]) / 5 + 64), Buffer<i64>(documents + 1)};
    tokens.offsets[0] = 0;
    u64 n = 0;
    for (std::size_t d = 0; d < documents; d++) {
        const u64 at = static_cast<u64>(offsets[d]), end = static_cast<u64>(offsets[d + 1]);
        n = put_tokens(data, at, end, table, scratch, tokens.hashes, n);
        tokens.offsets[d + 1] = static_cast<i64>(n);
    }
    tokens.hashes.truncate(n);
    return tokens;
}

// Appends start and end, in bytes of `data`, of each token of data[at:end] to out[n:], which grows; returns the new end.
// A span reaches from the first byte of a token's first character to the last of its last; a character that becomes
// parts of two tokens (Thai sara am) is in the spans of both.
inline u64 put_spans(std::span<const u8> data, u64 at, u64 end, const UnicodeTable& table, TokenScratch& scratch,
                     Buffer<i64>& out, u64 n) {
    while (at < end) {
        const u64 stop = piece_end(data.data(), at, end);
        const TokenPiece piece = find_tokens<true>(data, at, stop, table, scratch);
        if (n + piece.edges > out.size()) out.resize(2 * out.size() + piece.edges);
        for (u64 e = 0; e < piece.edges; e += 2) {
            u32 first = scratch.edges[e], last = scratch.edges[e + 1];
            if (piece.rewritten) {
                Source whole = scratch.sources[first];
                for (u32 k = first; k < last; k++) {
                    whole.start = std::min(whole.start, scratch.sources[k].start);
                    whole.end = std::max(whole.end, scratch.sources[k].end);
                }
                first = whole.start;
                last = whole.end;
            }
            out[n++] = static_cast<i64>(at + first);
            out[n++] = static_cast<i64>(at + last);
        }
        at = stop;
    }
    return n;
}

// The spans of all tokens of one document, in the order of `tokenise`.
inline Buffer<i64> token_spans(std::span<const u8> data, const UnicodeTable& table) {
    TokenScratch scratch;
    Buffer<i64> out(2 * (data.size() / 5 + 64));
    out.truncate(put_spans(data, 0, data.size(), table, scratch, out, 0));
    return out;
}

}  // namespace roughly
