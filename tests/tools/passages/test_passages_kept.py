"""What is removed and what is kept: every format, every unit; the input comes back byte for byte."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
from pathlib import Path

import passage_twins as twins
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import roughly

UNITS = ("window", "line", "sentence", "paragraph")
SHARED = "Every visitor of this site agrees that all of its terms apply to every page of it, without exception."
TEXTS = [
    f"Alpha begins here. {SHARED} Alpha ends there.",
    f"Beta begins, quite differently.\n{SHARED.upper()}\nBeta ends.",
    "Nothing of this is anywhere else, as far as we know.",
    SHARED,
]


def restored(result: roughly.PassagesResult, kept: dict[str, str]) -> dict[str, str]:
    """The input, put together again of what is kept and what was cut out."""
    cuts: dict[str, list[tuple[int, bytes]]] = {}
    for row in pq.read_table(result.folder / "removed.parquet").to_pylist():
        cuts.setdefault(row["doc_id"], []).append((row["start"], row["text"].encode()))
    texts = {}
    for doc_id in {*kept, *cuts}:
        data = kept.get(doc_id, "").encode()
        for start, cut in sorted(cuts.get(doc_id, [])):
            data = data[:start] + cut + data[start:]
        texts[doc_id] = data.decode()
    return texts


def kept_of(result: roughly.PassagesResult) -> dict[str, str]:
    table = pq.read_table(result.folder / "kept" / "table.parquet")
    return dict(zip(table["id"].to_pylist(), table["text"].to_pylist(), strict=True))


def removal(texts: list[str], **options: object) -> roughly.PassagesResult:
    table = pa.table({"id": [str(at) for at in range(len(texts))], "text": texts, "more": list(range(len(texts)))})
    return roughly.passages(table, do="remove", **options)


WORDS = st.sampled_from(["a", "B", "Ünder", "日本", "語", "don't", "x1", "ما", "é", "e\u0301", "ก", "ำ", "🙂"])
SEPARATORS = st.sampled_from([" ", "\n", "\n\n", ". ", "。", "\r\n", "", "\u2028", "\u2029", "? ", "\t", "\x0c"])
PIECES = st.lists(st.tuples(WORDS, SEPARATORS), max_size=40)


def joined(pieces: list[tuple[str, str]]) -> str:
    return "".join(word + separator for word, separator in pieces)


@settings(max_examples=40, deadline=None)
@given(st.lists(PIECES, min_size=1, max_size=4), st.sampled_from(UNITS), st.integers(0, 30))
@pytest.mark.slow
def test_the_input_comes_back_byte_for_byte(some: list[list[tuple[str, str]]], unit: str, least_left: int) -> None:
    pieces = [*some, *some, [piece for part in some for piece in part]]
    texts = [joined(part) for part in pieces]
    result = removal(texts, unit=unit, least=4 if unit == "window" else 1, least_left=least_left)
    kept = kept_of(result)
    assert restored(result, kept) == {str(at): text for at, text in enumerate(texts)}
    everything = dict(zip(*(result.texts()[name].to_pylist() for name in ("doc_id", "text")), strict=True))
    assert everything == kept
    encoded = [text.encode() for text in texts]
    for row in result.spans.to_pylist():
        doc = int(row["doc_id"])
        cut = encoded[doc][row["start"] : row["end"]].decode()  # never within a character
        assert cut == texts[doc][row["char_start"] : row["char_end"]]
        if not row["kept"]:
            assert row["witness_id"] in kept, "a document that is removed whole is no witness"


@pytest.mark.parametrize("unit", UNITS)
def test_what_is_left_of_the_texts(unit: str) -> None:
    result = removal(TEXTS, unit=unit, least=10 if unit == "window" else 4)
    kept = kept_of(result)
    assert kept["2"] == TEXTS[2]
    if unit == "window":
        assert kept["0"] == TEXTS[0]
        assert kept["1"] == "Beta begins, quite differently.\nBeta ends."
        assert "3" not in kept
        row = next(row for row in result.documents.to_pylist() if row["doc_id"] == "3")
        assert (row["kept"], row["witness_id"]) == (False, "0")
    elif unit == "line":
        assert kept["1"] == "Beta begins, quite differently.\n" + SHARED.upper() + "\nBeta ends."
        assert "3" not in kept
    elif unit == "sentence":
        assert kept["1"] == "Beta begins, quite differently.\nBeta ends."


def test_parquet_keeps_its_schema_and_other_columns(tmp_path: Path) -> None:
    schema = pa.schema(
        [("id", pa.int64()), ("text", pa.dictionary(pa.int32(), pa.string())), ("nested", pa.list_(pa.float32()))]
    )
    columns = [
        pa.array(range(4)),
        pa.array(TEXTS).dictionary_encode(),
        pa.array([[0.5], None, [], [1.5]], pa.list_(pa.float32())),
    ]
    pq.write_table(pa.Table.from_arrays(columns, schema=schema), tmp_path / "in.parquet", compression="snappy")
    roughly.passages(tmp_path / "in.parquet", output=tmp_path / "out", do="remove", least=10)
    kept = pq.read_table(tmp_path / "out" / "kept" / "in.parquet")
    assert kept.schema.equals(schema)
    assert kept["nested"].to_pylist() == [[0.5], None, []]
    assert kept["text"].to_pylist() == [TEXTS[0], "Beta begins, quite differently.\nBeta ends.", TEXTS[2]]


def test_lines_of_json_change_only_in_their_text(tmp_path: Path) -> None:
    lines = [
        json.dumps({"id": "0", "text": TEXTS[0]}) + "\n",
        '{"big": 123456789012345678901234567890, "text" : ' + json.dumps(TEXTS[1]) + ' , "x":1.10, "id":"1"}\r\n',
        "\n",
        '{"id":"2","text":"Été"}\n',
        "no object\n",
        json.dumps({"text": "not this one", "id": "3"})[:-1] + ', "text": ' + json.dumps(SHARED + " Ende.") + "}",
    ]
    path = tmp_path / "in.jsonl.gz"
    path.write_bytes(gzip.compress("".join(lines).encode()))
    result = roughly.passages(path, output=tmp_path / "out", do="remove", least=10)
    assert result.summary["counts"]["rejected"] == 1
    kept = gzip.decompress((tmp_path / "out" / "kept" / "in.jsonl.gz").read_bytes()).decode()
    left = "Beta begins, quite differently.\nBeta ends."
    assert kept == "".join(
        [
            lines[0],
            lines[1].replace(json.dumps(TEXTS[1]), json.dumps(left)),
            lines[3],
            lines[5].replace(json.dumps(SHARED + " Ende."), '"Ende."'),
        ]
    )


def test_rows_of_csv(tmp_path: Path) -> None:
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(["id", "text", "note"])
    for at, text in enumerate(TEXTS):
        writer.writerow([at, text, 'say "hi", 007'])
    (tmp_path / "in.csv").write_text(out.getvalue(), encoding="utf-8", newline="")
    roughly.passages(tmp_path / "in.csv", output=tmp_path / "out", do="remove", least=10)
    kept = (tmp_path / "out" / "kept" / "in.csv").read_text(encoding="utf-8")
    rows = list(csv.reader(io.StringIO(kept, newline="")))
    assert rows[0] == ["id", "text", "note"]
    assert [row[0] for row in rows[1:]] == ["0", "1", "2"]
    assert {row[2] for row in rows[1:]} == {'say "hi", 007'}
    roughly.passages(tmp_path / "in.csv", output=tmp_path / "marked", do="mark", least=10)
    text = (tmp_path / "marked" / "kept" / "in.csv").read_text(encoding="utf-8")
    marked = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [len(json.loads(row["passages"])) for row in marked] == [0, 1, 0, 1]


def test_marks_are_a_column(tmp_path: Path) -> None:
    lines = [json.dumps({"id": str(at), "text": text}) for at, text in enumerate(TEXTS)]
    (tmp_path / "in.jsonl").write_text("\n".join(lines), encoding="utf-8")
    roughly.passages(tmp_path / "in.jsonl", output=tmp_path / "out", do="mark", least=10)
    kept = [json.loads(line) for line in (tmp_path / "out" / "kept" / "in.jsonl").read_text().splitlines()]
    assert [row["text"] for row in kept] == TEXTS
    assert kept[0]["passages"] == []
    start = TEXTS[1].index("EVERY")
    assert kept[1]["passages"] == [
        {"start": start, "end": TEXTS[1].index("Beta ends"), "witness_id": "0", "witness_start": 19}
    ]
    table = roughly.passages(pa.table({"text": TEXTS}), output=tmp_path / "table", do="mark", least=10)
    marked = pq.read_table(table.folder / "kept" / "table.parquet")
    assert marked["passages"].to_pylist()[1] == kept[1]["passages"]


def test_folders_of_texts_and_archives(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    for at, text in enumerate(TEXTS):
        (folder / f"{at}.txt").write_bytes(text.encode("utf-16") if at == 1 else text.encode())
    roughly.passages(folder, output=tmp_path / "out", do="remove", least=10)
    kept = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "out" / "kept").rglob("*.txt")}
    assert kept == {"0.txt": TEXTS[0], "1.txt": "Beta begins, quite differently.\nBeta ends.", "2.txt": TEXTS[2]}
    roughly.passages(folder, output=tmp_path / "marked", do="mark", least=10)
    marked = [json.loads(line) for line in (tmp_path / "marked" / "kept" / "texts.jsonl").read_text().splitlines()]
    assert [row["text"] for row in marked] == TEXTS
    start, end = TEXTS[1].index("EVERY"), TEXTS[1].index("Beta ends")
    spans = [{"start": start, "end": end, "witness_id": marked[0]["doc_id"], "witness_start": 19}]
    assert [row["passages"] for row in marked[:3]] == [[], spans, []]


def test_mail_becomes_lines(tmp_path: Path) -> None:
    mails = "".join(
        f"From a@b Thu Jan  1 00:00:00 2009\nMessage-ID: <{at}@x>\nSubject: s{at}\n\n{text}\n\n"
        for at, text in enumerate(TEXTS)
    )
    (tmp_path / "list.mbox").write_text(mails, encoding="utf-8")
    roughly.passages(tmp_path / "list.mbox", output=tmp_path / "out", do="remove", least=10, least_left=5)
    kept = [json.loads(line) for line in (tmp_path / "out" / "kept" / "list.mbox.jsonl").read_text().splitlines()]
    assert [row["title"] for row in kept] == ["s0", "s1", "s2"]
    assert "EVERY VISITOR" not in kept[1]["text"]
    roughly.passages(tmp_path / "list.mbox", output=tmp_path / "marked", do="mark", least=10)
    marked = [json.loads(line) for line in (tmp_path / "marked" / "kept" / "list.mbox.jsonl").read_text().splitlines()]
    for row in marked:
        cuts = [row["text"].encode()[span["start"] : span["end"]] for span in row["passages"]]
        assert [b"VISITOR" in cut.upper() for cut in cuts] == [True] * (row["title"] in ("s1", "s3"))


def test_tags_of_html_are_never_cut(tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    words = [f"w{at}" for at in range(40)]
    first = f"<html><body><p>Start {' '.join(words)} end</p></body></html>"
    inner = " ".join(
        f"<b>{word[0]}</b>{word[1:]}" if at % 5 == 0 else f"{word}</p>\n<p>" for at, word in enumerate(words)
    )
    second = (
        f"<html><script>var x = 'w1 w2';</script><body><p>Fish &amp; caf&eacute; {inner} <i>after</i></p></body></html>"
    )
    (folder / "a.html").write_text(first, encoding="utf-8")
    (folder / "b.html").write_text(second, encoding="utf-8")
    result = roughly.passages(folder, output=tmp_path / "out", do="remove", least=20)
    kept = next((tmp_path / "out" / "kept").rglob("b.html")).read_text(encoding="utf-8")
    tags = "".join(part.split(">")[0] for part in second.split("<")[1:])
    assert "".join(part.split(">")[0] for part in kept.split("<")[1:]) == tags
    assert "Fish &amp; caf&eacute;" in kept
    assert "after" in kept
    assert "w7" not in kept
    assert sum(row["tokens"] for row in result.documents.to_pylist()) > 40


@pytest.mark.parametrize("unit", ["line", "sentence", "paragraph", "window"])
def test_blocks_of_html_are_units(unit: str, tmp_path: Path) -> None:
    """The footer of pages that are one line of source each, up to the tag that ends it."""
    folder = tmp_path / "pages"
    folder.mkdir()
    for name in "ab":
        page = (
            f"<html><head><title>{name}</title></head><body><ul><li>Home</li></ul><p>Own words: {name}{name}</p>"
            f"<footer>Every page of this <b>site</b> has the same footer.</footer></body></html>"
        )
        (folder / f"{name}.html").write_text(page, encoding="utf-8")
    result = roughly.passages(folder, output=tmp_path / "out", do="remove", unit=unit, least=8)
    kept = next((tmp_path / "out" / "kept").rglob("b.html")).read_text(encoding="utf-8")
    assert kept.endswith("<p>Own words: bb</p><footer><b></b></footer></body></html>")
    assert [row["excerpt"] for row in result.passages.to_pylist()] == ["Every page of this site has the same footer."]


@pytest.mark.parametrize("unit", UNITS)
def test_html_comes_back_byte_for_byte(unit: str) -> None:
    draw = random.Random(unit)
    pieces = (
        SHARED,
        SHARED.upper(),
        "one",
        "zwei",
        ". ",
        " ",
        "<p>",
        "</p>",
        "<br>",
        "<b>",
        "</b>",
        "<td>",
        "&amp;",
        "<!-- x -->",
    )
    texts = ["".join(draw.choice(pieces) for _ in range(draw.randrange(40))) for _ in range(60)]
    result = removal(texts, unit=unit, least=6, markup="html")
    assert restored(result, kept_of(result)) == {str(at): text for at, text in enumerate(texts)}
    assert result.summary["counts"]["spans"] > 20
    for row in pq.read_table(result.folder / "removed.parquet").to_pylist():
        whole = row["text"] == texts[int(row["doc_id"])]
        assert whole or "<" not in row["text"], "tags are never cut"


def test_the_order_of_keeping(tmp_path: Path) -> None:
    rows = [
        {"id": "old", "text": SHARED + " One more.", "date": "2001-01-01", "source": "a"},
        {"id": "new", "text": "Before it. " + SHARED, "date": "2020-01-01", "source": "b"},
        {"id": "long", "text": "Many words come before it, more than before. " + SHARED, "date": None, "source": "c"},
    ]
    table = pa.Table.from_pylist(rows)

    def kept(*rules: str) -> set[str]:
        spans = roughly.passages(table, least=10, keep=rules).spans.to_pylist()
        return {row["witness_id"] for row in spans if not row["kept"]}

    assert kept("first") == {"old"}
    assert kept("last") == {"long"}
    assert kept("newest") == {"new"}
    assert kept("oldest") == {"old"}
    assert kept("longest") == {"long"}
    assert kept("source:b>a") == {"new"}
    draw = random.Random(1)
    by_length = {row["doc_id"]: row for row in roughly.passages(table, least=10, keep="longest").spans.to_pylist()}
    for _ in range(3):
        draw.shuffle(rows)
        again = roughly.passages(pa.Table.from_pylist(rows), least=10, keep="longest").spans.to_pylist()
        assert {row["doc_id"]: row for row in again} == by_length


def test_how_often_and_where() -> None:
    rows = []
    for site in "abc":
        texts = [f"{site} {at} unlike the others {site * at}. {SHARED}" for at in range(3)]
        rows += [{"id": f"{site}{at}", "text": text, "source": site} for at, text in enumerate([*texts, site])]
    table = pa.Table.from_pylist(rows)

    def spans(**options: object) -> int:
        return roughly.passages(table, least=10, **options).summary["counts"]["spans"]

    assert spans() == spans(times=9) == spans(documents=9) == spans(sources=3) == spans(site_share=0.75) == 8
    assert spans(times=10) == spans(documents=10) == spans(sources=4) == spans(site_share=0.8) == 0


def test_walks_of_lines_and_documents_agree() -> None:
    """A collection with one sentence per line: lines and sentences are the same units."""
    documents = twins.collection(11, 3_000, words=3)
    texts = ["".join(f"Word {token} comes here now.\n" for token in document) for document in documents]
    lines, sentences = (roughly.passages(texts, unit=unit) for unit in ("line", "sentence"))
    assert lines.spans.equals(sentences.spans)
    assert lines.texts()["text"].to_pylist()[0].count("\n") == len(set(documents[0]))
