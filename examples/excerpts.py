"""Find which documents stand inside which: one by one with `contains`, in a collection with the measure containment.

python examples/excerpts.py
"""

from __future__ import annotations

import roughly

NOTICE = "The library is closed on Friday because the heating is being repaired."
LETTER = f"Dear readers, {NOTICE} Books that are due on that day may be returned on the Monday after it, at no charge."
MENU = "Soup of the day, bread and butter, apple cake with cream."


def main() -> None:
    """Print what holds what."""
    print(f"the letter contains the notice: {roughly.contains(LETTER, NOTICE)}")
    print(f"the notice contains the letter: {roughly.contains(NOTICE, LETTER)}")
    print(f"they are roughly the same: {roughly.same(LETTER, NOTICE)}")
    documents = [{"id": "notice", "text": NOTICE}, {"id": "letter", "text": LETTER}, {"id": "menu", "text": MENU}]
    result = roughly.dedupe(documents, measure="containment", threshold=0.9)
    for row in result.removed.to_pylist():
        print(f"{row['doc_id']} is removed: {row['containment']:.0%} of it is in {row['kept_id']}")


if __name__ == "__main__":
    main()
