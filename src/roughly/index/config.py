"""What an index is bound to: the settings, the lexicon and the key that its keys were made with.

All of it is stored with the index. Settings that decide how a run writes, and not which documents are alike (`cluster`,
`keep`, `pairs`, …), do not count: an index of one run serves another. A lexicon other than the bundled one is stored
whole. Of a secret key only the digest is: the key has to be given again.
"""

from __future__ import annotations

import dataclasses
import json
import os
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, delete, select

from roughly import methods
from roughly.errors import IndexRefused, SettingsError
from roughly.features.sampling import Sampling
from roughly.index.storage import schema
from roughly.index.storage.schema import FILES, META
from roughly.index.storage.store import IndexStore
from roughly.lexicon.lexicon import Lexicon
from roughly.methods import Judge, Method
from roughly.methods.secret import key_digest, read_key
from roughly.options import COLLECTION, DEFAULT
from roughly.settings import Settings
from roughly.signing.text_batch import example_signature

STORES = ("text", "shingles", "sketch")
SKETCHES = {"resemblance": "min:256", "containment": "mod:8"}
"""What `store="sketch"` keeps of a text that a method judges pairs on."""
_FREE = ("cluster", "keep", "pairs", "pairs_limit", "on_duplicate_id")
_PIECE = 1 << 20
_LEXICON = "lexicon"


@dataclass(frozen=True)
class IndexConfig:
    """The settings of an index, and what follows from them."""

    settings: Settings
    method: Method
    store: str
    fingerprint: str
    generation: int  # counts refreshes
    most: int  # of the sketches; see `features.Sets`

    @property
    def judge(self) -> Judge:
        """How pairs are judged."""
        return self.method.judge()

    @property
    def estimated(self) -> bool:
        """Whether scores are estimates: the sets that pairs are judged on are samples."""
        if self.method.equality:
            return False
        if self.judge.on == "text":
            return self.store == "sketch"
        described = self.method.describe()
        return self.judge.on == "sketch" and described.get("sketch", "all") != "all"

    @property
    def sampling(self) -> Sampling:
        """How the stored sample of a text is drawn, where only that is stored."""
        measure = self.judge.measure if self.judge.measure in SKETCHES else "resemblance"
        return Sampling.parse(SKETCHES[measure])

    @property
    def marked(self) -> bool:
        """Whether contents have bitmaps: where pairs are judged on complete sets that make sense to compare so."""
        if self.method.equality or self.judge.on == "keys" or self.estimated:
            return False
        return self.judge.measure in ("resemblance", "containment")


def fingerprint(settings: Settings, method: Method) -> str:
    """Sixteen hex digits that change whenever an index may answer otherwise."""
    default = Settings()
    plain = dataclasses.replace(settings, **{name: getattr(default, name) for name in _FREE})
    return methods.fingerprint(plain, method)


def bind(settings: Settings, store: str, lexicon: Lexicon | None = None, generation: int = 1) -> IndexConfig:
    """What follows from settings. `lexicon` is what the lexicon `collection` stands for."""
    if store not in STORES:
        raise SettingsError(f"store must be one of {', '.join(STORES)}, not {store!r}")
    if methods.needs_count(settings) and lexicon is None:
        raise SettingsError(
            "an index is bound to a frozen lexicon, so it cannot count its own collection; "
            "build one with `roughly lexicon build`, and name it with --lexicon"
        )
    method = methods.make(settings, lexicon)
    most = 0
    if not method.equality:
        if method.judge().on == "text" and store == "sketch":
            measure = method.judge().measure
            most = Sampling.parse(SKETCHES[measure]).number if measure == "resemblance" else 0
        elif method.judge().on == "sketch":
            sketch = example_signature(method).sketch
            most = 0 if sketch is None else sketch.most
    return IndexConfig(settings, method, store, fingerprint(settings, method), generation, most)


def with_lexicon(bound: IndexConfig, lexicon: str | os.PathLike[str] | Lexicon, name: str) -> IndexConfig:
    """The same with another lexicon, for the next generation of keys."""
    made = bound.method.method if isinstance(bound.method, methods.Verified) else bound.method
    if not hasattr(made, "lexicon"):
        raise SettingsError(f"{name} was made with the method {made.name}, which takes no lexicon to refresh")
    if bound.store != "text":
        raise SettingsError(f"{name} stores no texts ({bound.store}), so they cannot be signed again")
    options = dict(bound.settings.options) | {"lexicon": lexicon if isinstance(lexicon, Lexicon) else str(lexicon)}
    settings = dataclasses.replace(bound.settings, options=options)
    return bind(settings, bound.store, generation=bound.generation + 1)


def write(connection: Connection, store: IndexStore, bound: IndexConfig, *, fresh: bool) -> None:
    """Keep what the index is bound to; `fresh` in a new index."""
    settings = bound.settings.to_dict()
    settings["options"] = {
        n: v for n, v in settings["options"].items() if n != "key_file" and (n != "lexicon" or v == DEFAULT)
    }
    values = {
        "settings": json.dumps(settings),
        "contents": json.dumps(methods.contents(bound.settings, bound.method)),
        "fingerprint": bound.fingerprint,
        "store": bound.store,
        "generation": str(bound.generation),
    }
    if fresh:
        values |= {"format": str(schema.FORMAT), "next_content": "1", "next_document": "1", "removals": "0"}
    connection.execute(delete(META).where(META.c.name.in_(list(values))))
    store.insert(connection, "meta", ("name", "value"), list(values.items()))
    connection.execute(delete(FILES).where(FILES.c.name == _LEXICON))
    data = _lexicon_bytes(bound)
    pieces = [(_LEXICON, number, data[at : at + _PIECE]) for number, at in enumerate(range(0, len(data), _PIECE))]
    store.insert(connection, "files", ("name", "piece", "body"), pieces)


def read(
    connection: Connection, name: str, key_file: str | Path | None = None, *, any_format: bool = False
) -> IndexConfig:
    """What the index is bound to; refuses another format and another key."""
    values = {row.name: row.value for row in connection.execute(select(META))}
    if not any_format:
        check_format(values, name)
    settings = json.loads(values["settings"])
    contents = json.loads(values["contents"])
    if "key_file" in contents:
        if key_file is None:
            raise SettingsError(f"{name} was made with a secret key; give it again with --key-file")
        if key_digest(read_key(Path(key_file))) != contents["key_file"]:
            raise SettingsError(f"{name} was made with another key than the one in {key_file}; give that one")
        settings["options"]["key_file"] = str(key_file)
    pieces = connection.execute(select(FILES.c.body).where(FILES.c.name == _LEXICON).order_by(FILES.c.piece))
    data = b"".join(bytes(row.body) for row in pieces)
    if data:
        settings["options"]["lexicon"] = Lexicon.from_bytes(data, f"the lexicon of {name}")
    bound = bind(Settings.from_dict(settings), values["store"], generation=int(values["generation"]))
    if bound.fingerprint != values["fingerprint"]:
        raise IndexRefused(
            f"{name} was made by a roughly whose answers differ from this one's (fingerprint {values['fingerprint']}, "
            f"here {bound.fingerprint}); use that version, or make the index again"
        )
    return bound


def check_format(values: dict[str, str], name: str) -> None:
    """Refuse what is no index, and what this version does not work with."""
    if "format" not in values or "settings" not in values:
        raise IndexRefused(f"{name} holds no index of roughly; make one with `roughly index create`")
    found = int(values["format"])
    if found > schema.FORMAT:
        raise IndexRefused(
            f"{name} has format {found}, and this version knows formats up to {schema.FORMAT}; use a newer roughly"
        )
    if found < schema.FORMAT:
        raise IndexRefused(
            f"{name} has the old format {found}; bring it to format {schema.FORMAT} with `roughly index upgrade {name}`"
        )


def check_same(bound: IndexConfig, settings: Settings, name: str, lexicon: Lexicon | None = None) -> None:
    """Refuse settings that would give other verdicts than those of the index; all differences are told."""
    method = methods.make(settings, lexicon)
    if fingerprint(settings, method) == bound.fingerprint:
        return
    mine, theirs = bound.settings.to_dict(), settings.to_dict()
    problems = [
        f"{name} was made with {option} {mine.get(option)!r}, not {theirs.get(option)!r}"
        for option in mine | theirs
        if option not in (*_FREE, "options") and mine.get(option) != theirs.get(option)
    ]
    held, given = methods.contents(bound.settings, bound.method), methods.contents(settings, method)
    for option in sorted({*mine["options"], *theirs["options"], *held, *given}):
        one = held.get(option, mine["options"].get(option))
        other = given.get(option, theirs["options"].get(option))
        if one != other:
            problems.append(f"{name} was made with {option} {one!r}, not {other!r}")
    remedy = "give the settings of the index, or make another index with yours"
    raise SettingsError(*(f"{problem}; {remedy}" for problem in problems or [f"{name} was made with other settings"]))


def _lexicon_bytes(bound: IndexConfig) -> bytes:
    """The file of the lexicon, where it is not the bundled one."""
    made = bound.method.method if isinstance(bound.method, methods.Verified) else bound.method
    lexicon = getattr(made, "lexicon", None)
    if lexicon is None or bound.settings.options.get("lexicon", DEFAULT) == DEFAULT:
        return b""
    given = bound.settings.options["lexicon"]
    path = Path(lexicon.name if isinstance(given, Lexicon) or given == COLLECTION else given)
    if not path.is_file() or Lexicon.open(path).fingerprint != lexicon.fingerprint:
        raise SettingsError("an index stores its lexicon, so it has to be a file; save it, and give the file's name")
    return path.read_bytes()
