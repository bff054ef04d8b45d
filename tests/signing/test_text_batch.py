"""One road from texts to signatures: each step made once, when it is asked for, and the same for all callers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from roughly import methods
from roughly.features.sampling import Sampling
from roughly.methods.shingles import Shingles
from roughly.methods.super_shingles import SuperShingles
from roughly.methods.syntactic import Syntactic
from roughly.options import METHODS
from roughly.settings import Settings
from roughly.signing.text_batch import TextBatch, example_signature
from roughly.text.canonical import tokenise
from roughly.text.filters import Filters

TEXTS = pa.array(["<p>One &amp; two</p>", "one two", "One, two!", "", "three <b>four</b>"], pa.large_string())
MARKUP = pa.array([True, False, False, False, False])


def test_markup_is_removed_where_it_is_said_to_be() -> None:
    batch = TextBatch(TEXTS, MARKUP)
    assert batch.texts.to_pylist() == ["One & two", *TEXTS.to_pylist()[1:]]
    assert batch.lengths.tolist() == [2, 2, 2, 0, 4]
    assert batch.sizes.tolist() == [len(text) for text in TEXTS.to_pylist()]
    assert TextBatch(TEXTS).texts is TEXTS


def test_digests_have_128_bits_and_tell_equal_documents_at_each_level() -> None:
    batch = TextBatch(TEXTS, MARKUP)
    assert batch.raw_digests.shape == batch.lexical_digests.shape == (5, 2)
    assert len({tuple(row) for row in batch.digests("identical").tolist()}) == 5
    lexical = [tuple(row) for row in batch.digests("lexical").tolist()]
    assert lexical[0] == lexical[1] == lexical[2] and len(set(lexical)) == 3


@pytest.mark.parametrize("name", METHODS)
def test_a_batch_is_signed_as_its_tokens_are(name: str) -> None:
    method, batch = methods.make(Settings(method=name)), TextBatch(TEXTS, MARKUP)
    signed, alone = batch.sign(method), method.sign(batch.tokens)
    if alone.keys is None:
        assert method.equality and signed.keys is None and signed.counts == {}
        return
    assert signed.keys is not None and (signed.keys.values == alone.keys.values).all()
    unsigned = int((alone.keys.missing() & (batch.lengths > 0)).sum())
    assert signed.counts == {**alone.counts, "unsigned": unsigned}
    example = example_signature(method)
    assert example.keys is not None and example.keys.banded == alone.keys.banded
    assert (example.sketch is None) == (method.judge().on != "sketch")


def test_filtered_tokens_are_made_once_for_all_methods_that_want_them(monkeypatch: pytest.MonkeyPatch) -> None:
    filters, made = Filters.parse("sw,stem"), []
    apply = Filters.apply
    monkeypatch.setattr(Filters, "apply", lambda self, column: made.append(self) or apply(self, column))
    batch = TextBatch(TEXTS)
    keys = [batch.sign(Syntactic(filters)).keys for _ in range(3)]
    assert made == [filters] and (keys[0].values == keys[2].values).all()
    assert (batch.terms(None).hashes == tokenise(TEXTS).hashes).all() and made == [filters]


@pytest.mark.parametrize("method", [Shingles(), SuperShingles(), SuperShingles(short="keep", threshold=0.5)])
def test_a_document_is_sampled_once(method: methods.Method, monkeypatch: pytest.MonkeyPatch) -> None:
    sampled: list[int] = []
    apply = Sampling.apply
    monkeypatch.setattr(Sampling, "apply", lambda self, *given: sampled.append(given[1]) or apply(self, *given))
    words = " ".join(f"w{n}" for n in range(3000))
    signature = TextBatch(pa.array([words], pa.large_string())).sign(method)
    assert sampled.count(method.shingle_size) == 1  # type: ignore[attr-defined]
    assert signature.keys is not None and np.diff(signature.keys.offsets)[0] > 50
