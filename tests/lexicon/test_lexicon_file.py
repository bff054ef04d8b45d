"""The file: opened where it lies, refused where it is not what it should be, written whole or not at all."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from lexicon_twins import TEXTS

from roughly import lexicon
from roughly.errors import InputError, InputMissing, OutputError, OutputExists
from roughly.lexicon import Lexicon
from roughly.lexicon.format import FORM, PREAMBLE, head_digest
from roughly.text import tables
from roughly.text.canonical import tokenise


@pytest.fixture
def path(tmp_path: Path) -> Path:
    lexicon.build(TEXTS, output=tmp_path / "small.lexicon")
    return tmp_path / "small.lexicon"


def test_what_is_written_is_read(path: Path) -> None:
    built, opened = lexicon.build(TEXTS), Lexicon.open(path)
    assert dict(opened.terms()) == dict(built.terms())
    assert opened.facts == built.facts
    assert opened.fingerprint == built.fingerprint == Lexicon.open(path, verify=False).fingerprint
    assert opened.summary() == built.summary()


def test_nothing_in_it_can_be_changed(path: Path) -> None:
    opened = Lexicon.open(path)
    for array in (*opened.table, opened.directory, *opened.with_thresholds(min_df=2).table):
        assert not array.flags.writeable
    with pytest.raises(AttributeError):
        opened.fingerprint = ""  # type: ignore[misc]


def test_every_damaged_byte_is_noticed(path: Path) -> None:
    data = path.read_bytes()
    for at in [*range(0, 700), *range(700, len(data), 97), len(data) - 1]:
        spoilt = bytearray(data)
        spoilt[at] ^= 0x10
        path.write_bytes(spoilt)
        with pytest.raises(InputError):
            Lexicon.open(path)


@pytest.mark.parametrize("keep", [0, 1, 7, 8, 63, 64, 100, 500, -64, -1])
def test_a_file_that_is_cut_short_is_refused(path: Path, keep: int) -> None:
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(InputError, match="cut short" if keep else "is not a lexicon"):
        Lexicon.open(path, verify=False)


def test_each_refusal_says_what_is_wrong(path: Path, tmp_path: Path) -> None:
    data = path.read_bytes()
    other = tmp_path / "other.lexicon"

    def refused(content: bytes) -> str:
        other.write_bytes(content)
        with pytest.raises(InputError) as caught:
            Lexicon.open(other)
        assert str(other) in str(caught.value)
        return str(caught.value)

    assert "not a lexicon; make one with" in refused(b"PK\x03\x04 something else" * 9)
    assert "version 2, made by a newer roughly" in refused(data[:8] + struct.pack("<I", 2) + data[12:])
    assert "header does not match its checksum" in refused(data[:70] + b"?" + data[71:])
    assert "contents do not match their checksum" in refused(data[:-70] + b"?" + data[-69:])
    assert "is cut short: it has" in refused(data[:-1])
    assert "1 bytes too many" in refused(data + b"\0")
    assert "this version of roughly reads" in refused(
        _with_header(data, b'"form": "canonical 1', b'"form": "canonical 7')
    )
    assert "header makes no sense" in refused(_with_header(data, b'"sections"', b'"sectionz"'))
    assert "header makes no sense" in refused(_with_header(data, b'"min_df": 1', b'"min_df": 0'))


def _with_header(data: bytes, old: bytes, new: bytes) -> bytes:
    """The file with another header, and checksums that fit it."""
    magic, version, length, _, body = PREAMBLE.unpack_from(data)
    header = data[64 : 64 + length]
    assert header.count(old) == 1
    changed = header.replace(old, new)
    return PREAMBLE.pack(magic, version, length, head_digest(changed, body), body) + changed + data[64 + length :]


def test_offsets_that_lead_outside_are_refused_where_kernels_would_follow_them(path: Path) -> None:
    opened = Lexicon.open(path)
    offsets = opened.table.offsets.copy()
    offsets[3] = 2**31
    table = opened.table._replace(offsets=offsets)
    broken = Lexicon(opened.facts, "", "broken", table, opened.directory)
    for use in (lambda: lexicon.merge([broken]), lambda: broken.with_thresholds(letters_only=True)):
        with pytest.raises(InputError, match="outside its text"):
            use()


def test_missing_files_and_folders(tmp_path: Path) -> None:
    with pytest.raises(InputMissing, match="no such file"):
        Lexicon.open(tmp_path / "none.lexicon")
    with pytest.raises(InputError, match="cannot read"):
        Lexicon.open(tmp_path)


def test_outputs_that_will_not_do(path: Path, tmp_path: Path) -> None:
    before = path.read_bytes()
    with pytest.raises(OutputExists, match="already exists; add --overwrite"):
        lexicon.build(["other"], output=path)
    with pytest.raises(OutputExists, match="is a folder"):
        lexicon.build(["other"], output=tmp_path)
    with pytest.raises(OutputError, match="is not a folder"):
        lexicon.build(["other"], output=path / "inside")
    with pytest.raises(InputMissing):
        lexicon.build([], output=path, overwrite=True)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    lexicon.build(["other"], output=path, overwrite=True)
    assert dict(Lexicon.open(path).terms()) == {"other": 1}


def test_a_lexicon_may_be_replaced_by_what_is_made_from_it(path: Path) -> None:
    opened = Lexicon.open(path)
    wanted = lexicon.prune(opened, min_df=2).fingerprint
    assert lexicon.prune(opened, min_df=2, output=path, overwrite=True).fingerprint == wanted
    assert Lexicon.open(path).fingerprint == wanted


def test_the_form_in_the_file_is_the_form_in_use() -> None:
    """If this fails, hashes mean something else than in files written before: FORM must change with them."""
    assert f"canonical 1, Unicode {tables.load().unicode_version}" == FORM
    hashes = tokenise(pa.array(["The naïve 東京 conjuror’s Ⅻ"])).hashes
    assert int(np.bitwise_xor.reduce(hashes)) == 14948143978273548619
