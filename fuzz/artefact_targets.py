"""Artefacts: a changed one is refused in one sentence, or gives answers."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import random
import zlib
from collections.abc import Callable
from pathlib import Path

import mutation
import numpy as np
import pyarrow as pa
from mutation import Prepared
from reader_targets import HTML_WORDS, pages, texts

import roughly
from roughly import Index
from roughly.cli.show_command import WHAT, ShowOptions, show
from roughly.job.gathered_settings import merge_settings
from roughly.job.settings_file import read_sampling
from roughly.lexicon.builder import build
from roughly.lexicon.format import MAGIC, PREAMBLE, VERSION, head_digest
from roughly.lexicon.lexicon import Lexicon
from roughly.service.access_tokens import read_tokens
from roughly.service.collection.collection_types import ClusterQuery
from roughly.service.collection.passages_collection import PassagesCollection
from roughly.service.collection.run_collection import RunCollection
from roughly.signing.sign_files import sign
from roughly.signing.signature_file import read_signatures
from roughly.text.canonical import tokenise, words
from roughly.text.filters import NAMES, Filters
from roughly.text.markup import strip
from roughly.tools.decide.api import Decisions
from roughly.tools.labels import read_labels
from roughly.tools.recluster.stored_clusters import recluster

FEW_ROWS = 60
_SELDOM = 10
"""Of so many inputs of a large run, one is browsed and one imported."""
SEEDS = Path(__file__).resolve().parents[1] / "tests" / "fuzz_seeds"


def stored(name: str, scratch: Path, file: str = "file") -> list[tuple[Path, bytes]]:
    """The seeds that are files of the repository."""
    folder = SEEDS / name
    return [(scratch / file, path.read_bytes()) for path in sorted(folder.iterdir())] if folder.is_dir() else []


def rows(count: int = FEW_ROWS) -> list[dict[str, str]]:
    """Documents in threes that are near-duplicates; the names of later ones are long and random, so that files that
    hold few names are large too."""
    found, chance = texts(count // 3), random.Random(1)
    names = [f"d{n}" if n < FEW_ROWS else f"d{n}-{chance.randbytes(24).hex()}" for n in range(count)]
    return [
        {"id": name, "title": f"t{n}", "text": f"{found[n // 3]} x{n % 3}"} for n, name in enumerate(names)
    ]  # fmt: skip


def written(scratch: Path, count: int = FEW_ROWS) -> Path:
    """The documents as a file."""
    path = scratch / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows(count)), encoding="utf-8")
    return path


# ---------------------------------------------------------------------- files


def lexicon_file(scratch: Path, count: int = 0) -> Prepared:
    """Half of the changed files get checksums that fit, as a file has that was made to do harm."""
    seeds = stored("lexicon_file", scratch)
    if count:
        build([row["id"] for row in rows(count)], output=scratch / "large")
        seeds.append((scratch / "file", (scratch / "large").read_bytes()))

    def change(data: bytes, chance: random.Random) -> bytes:
        data = mutation.mutated(data, chance)
        return with_checksums(data) if chance.random() < 0.5 else data

    def use(path: Path) -> None:
        lexicon = Lexicon.open(path)
        hashes = np.append(lexicon.table.hashes, np.array([0, 1, 2**63, 2**64 - 1], np.uint64))
        assert len(lexicon.frequencies(hashes)) == len(hashes)
        assert len(list(lexicon.terms())) == len(lexicon)
        lexicon.top(3)
        lexicon.idf(hashes)
        lexicon.with_thresholds(min_df=2, min_length=2).summary()

    return Prepared(seeds, use, change)


def with_checksums(data: bytes) -> bytes:
    """The same with the checksums of what it holds, where it has a header at all."""
    if len(data) < PREAMBLE.size:
        return data
    length = min(PREAMBLE.unpack_from(data)[2], len(data) - PREAMBLE.size)
    header, body = data[PREAMBLE.size : PREAMBLE.size + length], data[PREAMBLE.size + length :]
    digest = hashlib.sha256(body).digest()
    return PREAMBLE.pack(MAGIC, VERSION, length, head_digest(header, digest), digest) + header + body


def signature_file(scratch: Path, count: int = 0) -> Prepared:
    """Signatures fit together and can be clustered."""
    seeds = stored("signature_file", scratch)
    if count:
        for method in ("imatch", "shingles"):
            made = scratch / f"{method}.parquet"
            sign(paths=[written(scratch, count)], output=made, method=method)
            seeds.append((scratch / "file", made.read_bytes()))

    def use(path: Path) -> None:
        found = read_signatures([path])
        assert len(found.tokens) == len(found.dates) == len(found.equal) == len(found)
        recluster([path])

    return Prepared(seeds, use)


def sketches(scratch: Path, count: int = FEW_ROWS) -> Prepared:
    """A folder of sketches, each file of it."""
    folder = scratch / "sketches"
    roughly.sketch(written(scratch, count), output=folder)
    return Prepared(_files(folder), lambda path: bool(roughly.recluster(folder)) and None)


def index_file(scratch: Path) -> Prepared:
    """An index: queries, search, check, export."""
    path, out = scratch / "index.db", scratch / "out.parquet"
    with Index.create(path, search=True) as index:
        index.add(rows(30))
    data = path.read_bytes()

    def use(path: Path) -> None:
        for ending in ("-wal", "-shm"):
            path.with_name(path.name + ending).unlink(missing_ok=True)
        with Index.open(path) as index:
            index.query(rows(3)[0]["text"])
            index.search("barta")
            index.text("d3")
            index.stats()
            index.verify()
            index.export(out, overwrite=True)
            index.add({"doc_id": "new", "text": "another text"})

    return Prepared([(path, data)], use, words=(b"CREATE TRIGGER", b"\xff\xff\xff\xff", b"d3", b"minhash"))


def settings_file(scratch: Path, count: int = 0) -> Prepared:
    """Settings and learned verdicts, as `tune` writes them."""
    path = scratch / "settings.toml"
    seeds = [
        b'# settings\nmethod = "minhash"\nthreshold = 0.8\nshingle_size = 5\nshingle_unit = "word"\n'
        b'keep = ["longest", "newest"]\ncluster = "star"\noptions = {bands = 10, rows = 5}\nseed = 1\n',
        b'sketch = "adaptive"\nshingle_size = 10\ngroups = [[100, 0.5], [1000, 0.25]]\nseed = 3\n',
        b'method = "shingles"\nsketch = "mod:25"\nmeasure = "containment"\nshingle_size = 10\nthreshold = 0.5\n'
        b'filters = "sw,stem"\n',
        *(data for _, data in stored("settings_file", scratch)),
    ]  # fmt: skip
    if count:
        values = "".join(
            f'key{n} = [{n}, {n}.5, "text {n}", {{a = 1979-05-27, b = [true, 0x{n:x}]}}]\n' for n in range(count)
        )
        seeds += [seed + values.encode() for seed in seeds[:3]]

    def use(path: Path) -> None:
        for read in (lambda: merge_settings({}, file=path), lambda: read_sampling(path)):
            with contextlib.suppress(roughly.errors.SettingsError, roughly.errors.InputError):
                read()

    words = ('"minhash"', "threshold = ", "[[[[", "1e999", "nan", "-1", '"""', "99999999999999999999", "'", "\n[a]\n")
    return Prepared([(path, seed) for seed in seeds], use, words=tuple(word.encode() for word in words))


def token_file(scratch: Path, count: int = 0) -> Prepared:
    """Tokens of a service."""

    def use(path: Path) -> None:
        path.chmod(0o600)
        assert any(read_tokens(path).values()), "protection that was asked for is never empty"

    data = b"# tokens\nread 0123456789abcdef0123\nwrite abcdef0123456789abcd\nadmin fedcba98765432100123\n"
    seeds = [data] + ([data + b"".join(b"read %032d\n" % number for number in range(count))] if count else [])
    return Prepared(
        [(scratch / "tokens", seed) for seed in seeds],
        use,
        words=(b"read ", b"admin ", b"\r", b"\x0c", b"\xe2\x80\xa8"),
    )


def labels(scratch: Path) -> Prepared:
    """Labels for `evaluate` and `tune`."""
    pairs = "left_id,right_id,same\n" + "".join(f'd{n},"d{n + 1}",{n % 2}\n' for n in range(300))
    sets = "id,cluster\n" + "".join(f"d{n},c{n // 3}\n" for n in range(300))
    seeds = [(scratch / "labels.csv", data.encode()) for data in (pairs, sets)]

    def use(path: Path) -> None:
        read_labels(path)

    return Prepared(seeds, use, words=(b'"', b",", b"\r", b"same", b"yes", b"nan", b"\xff"))


# ---------------------------------------------------------------------- folders of runs


def _files(folder: Path) -> list[tuple[Path, bytes]]:
    return [
        (path, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".json", ".parquet", ".npy", ".jsonl")
    ]


def run_folder(scratch: Path, count: int = FEW_ROWS) -> Prepared:
    """A run of `dedupe`: shown, browsed, imported. What opens a database is done with few inputs of a large run."""
    folder, imported = scratch / "run", scratch / "imported.db"
    given = written(scratch, count)
    roughly.dedupe(given, output=folder, pairs="all")

    def use(path: Path) -> None:
        def browse() -> None:
            with contextlib.closing(RunCollection(folder)) as run:
                run.statistics()
                run.clusters(ClusterQuery())
                run.texts(["d1", "d2"])

        def load() -> None:
            imported.unlink(missing_ok=True)
            Index.import_run(folder, imported).close()

        turn = zlib.crc32(path.read_bytes()) % _SELDOM
        shown = _shown(folder, path.stem if path.stem in WHAT else "documents")
        _each(shown, *(work for number, work in enumerate((browse, load)) if number == turn or count == FEW_ROWS))

    read = [(path, data) for path, data in _files(folder) if "kept" not in path.parts]
    return Prepared([*read, (given, given.read_bytes())], use)


def passages_run(scratch: Path, count: int = FEW_ROWS) -> Prepared:
    """A run of `passages`: its pages."""
    folder = scratch / "passages"
    given = scratch / "in.jsonl"
    footer = " ".join(f"clause{number} of the footer" for number in range(30))
    given.write_text(
        "".join(json.dumps(row | {"text": f"{row['text']} {footer}"}) + "\n" for row in rows(count)), encoding="utf-8"
    )
    roughly.passages(given, output=folder, least=20)

    def use(path: Path) -> None:
        def browse() -> None:
            with contextlib.closing(PassagesCollection(folder)) as run:
                run.facts()
                for row in run.passages[:3]:
                    spans = run.spans_of(row["doc_id"])
                    run.copies_of(row["doc_id"])
                    run.kept_place(row["doc_id"], row["start"], row["end"])
                    if spans.num_rows:
                        run.text(spans)

        _each(browse, _shown(folder, "removed"))

    return Prepared(_files(folder), use)


def decisions_file(scratch: Path, count: int = 20) -> Prepared:
    """Decisions about a run: read, their effects, applied."""
    folder = scratch / "run"
    roughly.dedupe(written(scratch), output=folder, pairs="all")
    with Decisions(folder) as decisions:
        removed = [row["doc_id"] for row in roughly.Result(folder).removed.to_list()]
        for name in removed[:5]:
            decisions.keep(name, by="someone", note="a note")
        decisions.different("d0", "d1", by="someone")
        decisions.together("d0", "d9", by="another")
        decisions.undo(2, by="someone")
        path = decisions.file.path
    data = path.read_bytes()
    head, *lines = data.splitlines(keepends=True)

    def use(path: Path) -> None:
        with Decisions(folder) as decisions:
            _ = decisions.standing
            decisions.effects()

    words = (b'"keep"', b'"together"', b'"undo"', b"null", b"[]", b"{}", b'"d1"', b"-1", b"1e400", b"\n")
    return Prepared([(path, data), (path, head + b"".join(lines) * count)], use, words=words)


def _shown(folder: Path, table: str) -> Callable[[], None]:
    def work() -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            show(ShowOptions(run=folder, what=table, format="jsonl"))

    return work


def _each(*works: Callable[[], None]) -> None:
    """Each of them, also if another is refused; the refusal is checked as that of the whole."""
    refused: Exception | None = None
    for work in works:
        try:
            work()
        except roughly.errors.UnexpectedError:
            raise
        except roughly.errors.RoughlyError as problem:
            assert "\n" not in str(problem).strip(), "a message is one line"
            refused = problem
    if refused is not None:
        raise refused


# ---------------------------------------------------------------------- texts


def canonical_form(scratch: Path) -> Prepared:
    """Any text has tokens, as many as its twin in Python finds, with every filter."""
    filters = Filters.parse(",".join(NAMES))
    given = "\n".join(texts(150))
    seeds = [given.encode(), given.upper().encode(), "".join(map(chr, range(0x20, 0x3000))).encode()]

    def use(path: Path) -> None:
        text = path.read_bytes().decode("utf-8", "replace")
        short = text[: min(len(text), 300)]
        found = tokenise(pa.array([short, text], pa.large_string()))
        assert int(found.offsets[1]) == len(words(short)), "another number of tokens"
        filters.apply(pa.array([text], pa.large_string()))
        assert roughly.resemblance(short, short) == 1.0

    put = ("\u0301", "\u200d", "\ufe0f", "\u0345", "\U0001d160", "İ", "ß", "ſ", "\u3099", "ǆ", "Σ")
    return Prepared([(scratch / "text", seed) for seed in seeds], use, words=tuple(one.encode() for one in put))


def markup(scratch: Path) -> Prepared:
    """Any text has its markup removed, with and without the parts around the main text."""

    def use(path: Path) -> None:
        text = path.read_bytes().decode("utf-8", "replace")
        strip(text)
        strip(text, main_only=True)

    seeds = [(scratch / "page", seed) for count in (3, 60) for seed in pages(count)]
    return Prepared(seeds, use, words=tuple(HTML_WORDS.encode().split(b" ")))


FILES: dict[str, Callable[[Path], Prepared]] = {
    "canonical_form": canonical_form,
    "markup": markup,
    "settings_file": settings_file,
    "token_file": token_file,
    "labels": labels,
    "lexicon_file": lexicon_file,
    "signature_file": signature_file,
    "sketches": sketches,
    "index_file": index_file,
    "run_folder": run_folder,
    "passages_run": passages_run,
    "decisions_file": decisions_file,
}
