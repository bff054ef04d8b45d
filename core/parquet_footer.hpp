// The sizes of row groups and columns in a footer of Parquet, which is a struct in Thrift's compact protocol.
//
// A field has a header (how far its number is from the one before, and its type) and its value; a struct ends with a
// zero byte. Numbers are those of the format's parquet.thrift. What is not wanted is skipped, so a wide table costs
// about as much as copying its footer. Every length is checked before it is used.
#pragma once

#include <span>
#include <stdexcept>
#include <vector>

#include "words.hpp"

namespace roughly::parquet {

enum Kind : u8 { TRUE = 1, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT };

class CompactReader {
public:
    explicit CompactReader(std::span<const u8> data) : data_(data) {}

    // Calls field(number, kind) for every field of a struct; it must read or skip the value.
    template <typename Field>
    void fields(Field&& field) {
        i64 number = 0;
        while (const u8 head = byte()) {
            number = head >> 4 ? number + (head >> 4) : whole();
            field(number, static_cast<Kind>(head & 15));
        }
    }

    // Calls item(kind) for every item of a list; it must read or skip the item.
    template <typename Item>
    void items(Item&& item) {
        const u8 head = byte();
        const u64 count = head >> 4 < 15 ? u64{head} >> 4 : varint();
        for (u64 i = 0; i < count; ++i) item(static_cast<Kind>(head & 15));  // an item has a byte at least
    }

    i64 whole() {
        const u64 value = varint();
        return static_cast<i64>(value >> 1 ^ (~(value & 1) + 1));
    }

    std::span<const u8> bytes(u64 count) {
        if (count > data_.size() - at_) throw std::invalid_argument("the footer is cut off");
        at_ += count;
        return data_.subspan(at_ - count, count);
    }

    std::span<const u8> binary() { return bytes(varint()); }

    void skip(Kind kind, bool in_list = false, int depth = 0) {
        if (depth > DEEPEST) throw std::invalid_argument("the footer is nested too deeply");
        if (kind == TRUE || kind == FALSE) {
            if (in_list) bytes(1);  // as a field, its value is its type
        } else if (kind == BYTE) {
            bytes(1);
        } else if (kind == I16 || kind == I32 || kind == I64) {
            varint();
        } else if (kind == DOUBLE) {
            bytes(8);
        } else if (kind == BINARY) {
            binary();
        } else if (kind == LIST || kind == SET) {
            items([&](Kind of_item) { skip(of_item, true, depth + 1); });
        } else if (kind == STRUCT) {
            fields([&](i64, Kind of_field) { skip(of_field, false, depth + 1); });
        } else {
            throw std::invalid_argument("the footer has a value of a type that does not occur in Parquet");
        }
    }

private:
    static constexpr int DEEPEST = 32;

    u8 byte() { return bytes(1)[0]; }

    u64 varint() {
        u64 value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            const u8 next = byte();
            value |= u64{next & 0x7Fu} << shift;
            if (next < 0x80) return value;
        }
        throw std::invalid_argument("the footer has a number of more than 64 bits");
    }

    std::span<const u8> data_;
    std::size_t at_ = 0;
};

// Rows and bytes of each row group; then for each column its row group, type, codec, values, bytes and whether it has a
// dictionary, −1 for what is not said; and its name, from paths[path_ends[c − 1]] on, with dots between the parts.
struct GroupSizes {
    static constexpr std::size_t OF_GROUP = 2, OF_COLUMN = 6;
    std::vector<i64> groups, columns, path_ends;
    std::vector<u8> paths;
};

namespace detail {

inline void read_column(CompactReader& reader, GroupSizes& sizes) {
    enum { TYPE_OF = 1, PATH = 3, CODEC, VALUES, NBYTES, DICTIONARY = 11 };
    i64* const row = sizes.columns.data() + sizes.columns.size() - GroupSizes::OF_COLUMN;
    reader.fields([&](i64 number, Kind kind) {
        const bool is_whole = kind == I32 || kind == I64;
        if (number == PATH && kind == LIST) {
            bool is_first = true;
            reader.items([&](Kind of_part) {
                if (of_part != BINARY) throw std::invalid_argument("the footer has a column whose name is no text");
                if (!is_first) sizes.paths.push_back('.');
                is_first = false;
                const auto part = reader.binary();
                sizes.paths.insert(sizes.paths.end(), part.begin(), part.end());
            });
        } else if (is_whole && number == TYPE_OF) {
            row[1] = reader.whole();
        } else if (is_whole && number >= CODEC && number <= NBYTES) {
            row[number - 2] = reader.whole();
        } else if (is_whole && number == DICTIONARY) {
            row[5] = reader.whole() > 0;
        } else {
            reader.skip(kind);
        }
    });
}

}  // namespace detail

inline GroupSizes group_sizes(std::span<const u8> footer) {
    enum { GROUPS = 4, COLUMNS = 1, GROUP_NBYTES = 2, GROUP_ROWS = 3, METADATA = 3 };
    GroupSizes sizes;
    CompactReader reader(footer);
    const auto require = [](bool is_so) {
        if (!is_so) throw std::invalid_argument("the footer has a value of another type than Parquet says");
    };
    const auto read_chunk = [&](Kind kind) {
        require(kind == STRUCT);
        sizes.columns.insert(sizes.columns.end(), {static_cast<i64>(sizes.groups.size() / GroupSizes::OF_GROUP) - 1, -1,
                                                   -1, -1, -1, 0});
        reader.fields([&](i64 number, Kind of_field) {
            number == METADATA && of_field == STRUCT ? detail::read_column(reader, sizes) : reader.skip(of_field);
        });
        sizes.path_ends.push_back(static_cast<i64>(sizes.paths.size()));
    };
    reader.fields([&](i64 number, Kind kind) {
        if (number != GROUPS) return reader.skip(kind);
        require(kind == LIST);
        reader.items([&](Kind of_group) {
            require(of_group == STRUCT);
            const std::size_t at = sizes.groups.size();
            sizes.groups.insert(sizes.groups.end(), {-1, -1});
            reader.fields([&](i64 field, Kind of_field) {
                if (field == COLUMNS && of_field == LIST) return reader.items(read_chunk);
                if (field == GROUP_ROWS && of_field == I64) {
                    sizes.groups[at] = reader.whole();
                } else if (field == GROUP_NBYTES && of_field == I64) {
                    sizes.groups[at + 1] = reader.whole();
                } else {
                    reader.skip(of_field);
                }
            });
        });
    });
    return sizes;
}

}  // namespace roughly::parquet
