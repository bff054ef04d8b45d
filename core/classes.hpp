// The frozen Unicode table: one 32-bit entry per code point, found in two stages.
//
//     entry = stage2[stage1[cp >> 8] << 8 | cp & 255]
//     class = entry >> 24, payload = entry & 0xFFFFFF
//
// `stage1` names the block of 256 entries of each code point; blocks that are equal are stored once. After the last
// block `stage2` has the sequences of code points of class SEQUENCE.
//
// | class     | what it does                          | payload                                                |
// |-----------|---------------------------------------|--------------------------------------------------------|
// | SEPARATOR | ends a token                          | –                                                      |
// | WORD      | continues a token                     | canonical code point minus this one, modulo 2^21       |
// | SINGLE    | is a token, with the marks after it   | the same                                               |
// | IGNORED   | is skipped                            | –                                                      |
// | MARK      | belongs to the character before it    | canonical combining class                              |
// | SEQUENCE  | becomes others, none of this class    | index in `stage2` of their count; they follow          |
#pragma once

#include "words.hpp"

namespace roughly {

inline constexpr u32 SEPARATOR = 0, WORD = 1, SINGLE = 2, IGNORED = 3, MARK = 4, SEQUENCE = 5;
inline constexpr u32 PAYLOAD = 0xFFFFFF, DELTA = 0x1FFFFF;

inline constexpr u32 DOT_ABOVE = 0x307;   // dropped after an i, so that İ, I + dot and i are one letter
inline constexpr u64 LONGEST_RUN = 30;    // marks that are put into canonical order together (UAX #15, §13)
inline constexpr u64 GROWTH = 3;          // most bytes of canonical form per byte of text
inline constexpr u64 STAGE1 = 0x110000 >> 8;  // entries of stage1: one per block of 256 code points

// The frozen table. Its arrays are checked when they are loaded: every index in them is valid.
struct UnicodeTable {
    const u16* stage1;
    const u32* stage2;

    u32 operator[](u32 cp) const { return stage2[u32{stage1[cp >> 8]} << 8 | (cp & 255)]; }
};

}  // namespace roughly
