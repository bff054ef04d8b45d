// The characters of a text in canonical form, as 64-bit hashes: the unit of shingles of characters.
//
// They are the code points of its tokens, one token after the other without anything between them, so neither spacing
// nor hyphenation counts. A character has the hash of a token that consists of it.
#pragma once

#include <span>

#include "tokens.hpp"
#include "utf8.hpp"

namespace roughly {

// Hashes of the characters of each document data[offsets[i]:offsets[i + 1]], and where each document's begin.
inline TokenLists characters(std::span<const u8> data, std::span<const i64> offsets, const UnicodeTable& table) {
    const std::size_t documents = offsets.size() - 1;
    TokenScratch scratch;
    TokenLists found{Buffer<u64>(static_cast<u64>(offsets[documents] - offsets[0]) + 64), Buffer<i64>(documents + 1)};
    found.offsets[0] = 0;
    u64 n = 0;
    for (std::size_t d = 0; d < documents; d++) {
        const u64 end = static_cast<u64>(offsets[d + 1]);
        for (u64 at = static_cast<u64>(offsets[d]); at < end;) {
            const u64 stop = piece_end(data.data(), at, end);
            const TokenPiece piece = find_tokens(data, at, stop, table, scratch);
            const u64 room = n + (piece.edges == 0 ? 0 : scratch.edges[piece.edges - 1]);
            if (room > found.hashes.size()) found.hashes.resize(room + found.hashes.size() / 2);
            for (u64 e = 0; e < piece.edges; e += 2) {
                for (u64 p = scratch.edges[e], last = scratch.edges[e + 1]; p < last;) {
                    const u64 size = piece.text[p] < 128 ? 1 : decode(piece.text + p, last - p).size;
                    found.hashes[n++] = hash_token(piece.text + p, size, piece.readable - p);
                    p += size;
                }
            }
            at = stop;
        }
        found.offsets[d + 1] = static_cast<i64>(n);
    }
    found.hashes.truncate(n);
    return found;
}

}  // namespace roughly
