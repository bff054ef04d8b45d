"""Methods made from settings, and digests of the files that options name, on which the fingerprint depends."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from roughly.methods import secret
from roughly.methods.option_values import read_key_file
from roughly.methods.term_filters import split_filters
from roughly.methods.verified import Verified
from roughly.options import COLLECTION, METHODS

if TYPE_CHECKING:
    from roughly.lexicon.lexicon import Lexicon
    from roughly.methods.method import Method
    from roughly.settings import Settings
    from roughly.text.filters import Filters


def make(settings: Settings, collection: Lexicon | None = None) -> Method:
    """The method that these settings name, with everything that follows from them derived.

    `collection` is the lexicon of the run's own documents, for settings with the lexicon `collection`.
    """
    method = cast("Method", METHODS[settings.method].make(settings, collection))
    if settings.verify and not method.equality and method.judge().on != "text":
        return Verified(method, settings.measure, settings.threshold)
    return method


def check(settings: Settings) -> Method:
    """Refuse settings without a possible method, before any work is done.

    The method is made with a substitute for a lexicon that is still to be counted.
    """
    return make(settings, _stand_in(counted_with(settings)) if needs_count(settings) else None)


def needs_count(settings: Settings) -> bool:
    """Whether the documents must be counted before they can be signed."""
    return bool(settings.options.get("lexicon") == COLLECTION)


def counted_with(settings: Settings) -> Filters:
    """The filters that the collection is counted with: those that its documents are signed with."""
    from roughly.text.filters import Filters

    return split_filters(settings.options.get("filter", ""))[0] or Filters()


def contents(settings: Settings, method: Method | None = None) -> dict[str, str]:
    """Digests of the files that options name: a lexicon's fingerprint, a key's digest.

    Without a method it is made here; a collection that was not counted yet is only named.
    """
    if method is None:
        if needs_count(settings):
            check(settings)
            key = secret.key_digest(read_key_file(settings))
            return {"lexicon": COLLECTION} | ({"key_file": key} if key else {})
        method = make(settings)
    made = method.method if isinstance(method, Verified) else method
    held = {}
    if (lexicon := getattr(made, "lexicon", None)) is not None:
        held["lexicon"] = str(lexicon.fingerprint)
    if digest := secret.key_digest(getattr(made, "key", secret.NO_KEY)):
        held["key_file"] = digest
    return held


def fingerprint(settings: Settings, method: Method | None = None) -> str:
    """The fingerprint of settings together with the files that they name."""
    return settings.fingerprint(contents(settings, method))


def _stand_in(filters: Filters) -> Lexicon:
    """A lexicon that has these filters in its facts."""
    from roughly import lexicon as lexicons

    found = lexicons.default()
    return replace(found, facts=replace(found.facts, filters=str(filters)))
