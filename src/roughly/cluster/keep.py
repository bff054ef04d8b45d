"""Who stays: an ordered list of rules, as one total order over documents.

The first rule that tells two documents apart decides; the last word always has the document's id, so the order
never depends on the order of the input, except where the user asks for that (`first`, `last`). The order is given
as SQL over the run's table of documents, which every engine understands. With `measure="containment"` the longer
document must come first, because only the longer can contain the shorter; the rules then break ties.

| rule | who stays |
|---|---|
| `longest`, `shortest` | most (fewest) tokens, then bytes |
| `newest`, `oldest` | latest (earliest) date; documents without a readable date come last |
| `first`, `last` | as they stand in the input |
| `url` | shortest url, then alphabetically; documents without one come last |
| `source:a>b` | documents of source a, then of b, then all others |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

_RULES = {
    "longest": "tokens DESC, bytes DESC",
    "shortest": "tokens ASC, bytes ASC",
    "newest": "when_published DESC NULLS LAST",
    "oldest": "when_published ASC NULLS LAST",
    "first": "doc ASC",
    "last": "doc DESC",
    "url": "length(url) ASC NULLS LAST, url ASC NULLS LAST",
}


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def order_by(rules: Sequence[str], measure: str, literal: Callable[[str], str] = _quoted) -> str:
    """The ORDER BY list that puts the document that stays first; `literal` is how this SQL writes a text."""
    terms = ["tokens DESC"] if measure == "containment" else []
    for rule in rules:
        terms.append(_source_order(rule[7:], literal) if rule.startswith("source:") else _RULES[rule])
    return ", ".join([*terms, "doc_id ASC"])


def _source_order(preferences: str, literal: Callable[[str], str]) -> str:
    names = [literal(name.strip()) for name in preferences.split(">")]
    cases = " ".join(f"WHEN {name} THEN {place}" for place, name in enumerate(names))
    return f"CASE source {cases} ELSE {len(names)} END ASC"
