// Lines of a file by ranges of bytes: the input chooses the size of the ranges and is the file. The ranges share out the
// lines between them, and lines chosen by number are those lines.

#include <algorithm>

#include <sys/mman.h>

#include "line_ranges.hpp"
#include "lines.hpp"
#include "target.hpp"

namespace roughly::fuzz {

namespace {

constexpr u64 NO_LIMIT = u64{1} << 40;

// A file in memory, opened by a path as any other.
class MemoryFile {
public:
    explicit MemoryFile(std::span<const u8> data) : file_(::memfd_create("fuzz", 0)) {
        must(file_ >= 0 && ::write(file_, data.data(), data.size()) == static_cast<ssize_t>(data.size()), "a file");
    }
    ~MemoryFile() { ::close(file_); }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

private:
    int file_;
};

void check_chosen(const InputFile& file, std::span<const u8> data, std::span<const i64> ends, u64 every) {
    std::vector<i64> rows;
    std::vector<u8> wanted;
    for (u64 row = 0; row < ends.size(); row += every) {
        rows.push_back(static_cast<i64>(row));
        wanted.insert(wanted.end(), data.begin() + (row == 0 ? 0 : ends[row - 1]), data.begin() + ends[row]);
    }
    const LineBlock block{0, static_cast<i64>(ends.size()), 0, static_cast<i64>(data.size())};
    const ChosenLines chosen = read_chosen_lines(file, {&block, 1}, rows);
    must(!chosen.changed, "the block is what it was");
    must(chosen.data.size() == wanted.size() && std::equal(wanted.begin(), wanted.end(), chosen.data.data()), "the lines chosen");
    rows.push_back(static_cast<i64>(ends.size()));
    must(read_chosen_lines(file, {&block, 1}, rows).changed, "a line too many is noticed");
}

// Only the last line may reach beyond a range, so only it may be too long.
void check_limit(const InputFile& file, std::span<const u8> data, std::span<const i64> ends, u64 stop, u64 longest) {
    const LinesOfRange lines = read_line_range(file, 0, 0, stop, longest);
    must_ascend(lines.ends, lines.data.size());
    u64 begin = 0, end = 0, count = 0;  // of the last line that begins before `stop`
    for (const i64 next : ends) {
        if (end >= stop) break;
        begin = end;
        end = static_cast<u64>(next);
        count++;
    }
    const bool reaches_beyond = stop > 0 && end > 0 && data[std::min<u64>(stop, data.size()) - 1] != '\n';
    const bool too_long = reaches_beyond && end - begin > longest;
    must(lines.too_long == too_long, "a line is too long exactly if it has more bytes than allowed");
    must(lines.ends.size() == count - too_long, "all other lines are read");
    must(lines.data.size() == (too_long ? begin : end), "and nothing else");
}

}  // namespace

void try_bytes(std::span<const u8> input) {
    Choices choices(input);
    const u64 least = 1 + choices.next(64), longest = choices.next(300), every = 1 + choices.next(5);
    const auto data = alone(choices.rest());
    const u64 step = std::max<u64>(least, data.size() / 12);  // each range takes its own memory: few ranges, many files
    const MemoryFile held(data);
    const InputFile file(held.path());
    const auto ends = line_ends(data);

    std::vector<u8> all;
    std::vector<i64> found;
    for (u64 start = 0; start < data.size(); start += step) {
        const LinesOfRange lines = read_line_range(file, 0, start, start + step, NO_LIMIT);
        must(!lines.too_long, "no line is too long");
        must_ascend(lines.ends, lines.data.size());
        must(lines.ends.empty() || lines.begin == all.size(), "a range begins where the one before ended");
        for (const i64 end : lines.ends) found.push_back(static_cast<i64>(all.size()) + end);
        all.insert(all.end(), lines.data.data(), lines.data.data() + lines.data.size());
    }
    must(all == data, "ranges share out the bytes");
    must(found == ends, "and the lines");
    check_chosen(file, data, ends, every);
    check_limit(file, data, ends, data.size() / every, longest);
}

}  // namespace roughly::fuzz
