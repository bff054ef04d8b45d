"""The configuration of an index: the settings, the lexicon and the secret key that its keys were made with.

It is stored in the index and cannot be changed. Settings that decide what a run writes, and not which documents are
alike (`cluster`, `keep`, `pairs`, …), do not count: an index made for one run serves another. A lexicon other than the
bundled one is stored as a whole. Only the digest of a secret key is stored: the key has to be given again.
"""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path

from sqlalchemy import Connection, delete, inspect, select

from roughly import methods
from roughly.errors import IndexRefused, OutputExists, SettingsError
from roughly.fast_dataclass import dataclass
from roughly.features.sampling import Sampling
from roughly.index.storage import schema
from roughly.index.storage.bodies import stored_bytes
from roughly.index.storage.meta import write_meta
from roughly.index.storage.schema import FILES, META
from roughly.index.storage.store import IndexStore
from roughly.lexicon.lexicon import Lexicon
from roughly.methods import Judge, Method
from roughly.methods.secret import key_digest, read_key
from roughly.options import COLLECTION, DEFAULT
from roughly.settings import Settings
from roughly.signing.packed_vectors import NumberedTermVector
from roughly.signing.text_batch import example_signature

STORES = ("text", "shingles", "sketch", "packed")
SKETCHES = {"resemblance": "min:256", "containment": "mod:8"}
"""How `store="sketch"` samples a text, by the measure of the method."""
_IRRELEVANT = ("cluster", "keep", "pairs", "pairs_limit", "on_duplicate_id")
_PIECE = 1 << 20
_LEXICON = "lexicon"


@dataclass(frozen=True)
class IndexConfig:
    """The settings of an index, and what follows from them."""

    settings: Settings
    method: Method
    store: str  # text, shingles, or sketch
    fingerprint: str
    generation: int  # 1 plus the number of refreshes
    most: int  # values per sketch; see `features.Sets`

    @property
    def form(self) -> str:
        """What is stored of a text, as `STORES` names it."""
        return "packed" if self.packed is not None else self.store

    @property
    def packed(self) -> NumberedTermVector | None:
        """The method, where its sketches are stored in Conrad's 184 bytes."""
        return self.method if isinstance(self.method, NumberedTermVector) else None

    @property
    def judge(self) -> Judge:
        """How the method judges pairs."""
        return self.method.judge()

    @property
    def estimated(self) -> bool:
        """Whether scores are estimates, because pairs are compared on samples of their sets."""
        if self.method.equality:
            return False
        if self.judge.on == "text":
            return self.store == "sketch"
        described = self.method.describe()
        return self.judge.on == "sketch" and described.get("sketch", "all") != "all"

    @property
    def sampling(self) -> Sampling:
        """How a text is sampled, where only samples are stored."""
        measure = self.judge.measure if self.judge.measure in SKETCHES else "resemblance"
        return Sampling.parse(SKETCHES[measure])

    @property
    def marked(self) -> bool:
        """Whether contents have bitmaps: where pairs are compared on complete sets by a measure that bitmaps bound."""
        if self.method.equality or self.judge.on == "keys" or self.estimated:
            return False
        return self.judge.measure in ("resemblance", "containment")


def fingerprint(settings: Settings, method: Method) -> str:
    """Sixteen hex digits that change whenever an index may give other answers."""
    default = Settings()
    plain = dataclasses.replace(settings, **{name: getattr(default, name) for name in _IRRELEVANT})
    return methods.fingerprint(plain, method)


def make_config(settings: Settings, store: str, lexicon: Lexicon | None = None, generation: int = 1) -> IndexConfig:
    """The configuration that follows from settings; `lexicon` is used for the lexicon `collection`."""
    if store not in STORES:
        raise SettingsError(f"store must be one of {', '.join(STORES)}, not {store!r}")
    if settings.verdict is not None and store != "text":
        raise SettingsError(f"a learned verdict compares words, so the index has to store texts (text), not {store}")
    if methods.needs_count(settings) and lexicon is None:
        raise SettingsError(
            "an index is bound to a frozen lexicon, so it cannot count its own collection; "
            "build one with `roughly lexicon build`, and name it with --lexicon"
        )
    method = methods.make(settings, lexicon)
    if store == "packed":
        method, store = NumberedTermVector.of(method), "sketch"
    most = 0
    if not method.equality:
        if method.judge().on == "text" and store == "sketch":
            measure = method.judge().measure
            most = Sampling.parse(SKETCHES[measure]).number if measure == "resemblance" else 0
        elif method.judge().on == "sketch":
            sketch = example_signature(method).sketch
            most = 0 if sketch is None else sketch.most
    return IndexConfig(settings, method, store, fingerprint(settings, method), generation, most)


def with_lexicon(config: IndexConfig, lexicon: str | os.PathLike[str] | Lexicon, name: str) -> IndexConfig:
    """The same configuration with another lexicon, for the next generation of keys."""
    made = config.method.method if isinstance(config.method, methods.Verified) else config.method
    if not hasattr(made, "lexicon"):
        raise SettingsError(f"{name} was made with the method {made.name}, which takes no lexicon to refresh")
    if config.store != "text":
        raise SettingsError(f"{name} stores no texts ({config.form}), so they cannot be signed again")
    options = dict(config.settings.options) | {"lexicon": lexicon if isinstance(lexicon, Lexicon) else str(lexicon)}
    settings = dataclasses.replace(config.settings, options=options)
    return make_config(settings, config.store, generation=config.generation + 1)


def create_tables(store: IndexStore, connection: Connection, config: IndexConfig) -> None:
    """Make the tables of a new index and store its configuration; refuses a database that has an index."""
    if inspect(connection).has_table("meta"):
        raise OutputExists(f"{store.name} already has an index; open it, or use another database")
    schema.METADATA.create_all(connection)
    write_config(store, connection, config, new=True)


def write_config(store: IndexStore, connection: Connection, config: IndexConfig, *, new: bool) -> None:
    """Store the configuration of an index; with `new`, also what every new index starts with."""
    settings = config.settings.to_dict()
    settings["options"] = {
        n: v for n, v in settings["options"].items() if n != "key_file" and (n != "lexicon" or v == DEFAULT)
    }
    values = {
        "settings": json.dumps(settings),
        "contents": json.dumps(methods.contents(config.settings, config.method)),
        "fingerprint": config.fingerprint,
        "store": config.form,
        "generation": str(config.generation),
    }
    if new:
        values |= {"format": str(schema.FORMAT), "next_content": "1", "next_document": "1", "removals": "0"}
    write_meta(connection, values)
    connection.execute(delete(FILES).where(FILES.c.name == _LEXICON))
    data = _lexicon_bytes(config)
    pieces = [(_LEXICON, number, data[at : at + _PIECE]) for number, at in enumerate(range(0, len(data), _PIECE))]
    store.insert(connection, "files", ("name", "piece", "body"), pieces)


def read_config(
    connection: Connection, name: str, key_file: str | Path | None = None, *, any_format: bool = False
) -> IndexConfig:
    """The configuration of an index; refuses another format, another key and another version's answers."""
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
    data = b"".join(stored_bytes(row.body) for row in pieces)
    if data:
        settings["options"]["lexicon"] = Lexicon.from_bytes(data, f"the lexicon of {name}")
    config = make_config(Settings.from_dict(settings), values["store"], generation=int(values["generation"]))
    if config.fingerprint != values["fingerprint"]:
        raise IndexRefused(
            f"{name} was made by a roughly whose answers differ from this one's (fingerprint {values['fingerprint']}, "
            f"here {config.fingerprint}); use that version, or make the index again"
        )
    return config


def check_format(values: dict[str, str], name: str) -> None:
    """Refuse a database that is not an index, and an index of another format."""
    found = format_of(values, name)
    if found < schema.FORMAT:
        raise IndexRefused(
            f"{name} has the old format {found}; bring it to format {schema.FORMAT} with `roughly index upgrade {name}`"
        )


def format_of(values: dict[str, str], name: str) -> int:
    """The format of an index, by its table `meta`; refuses one that is newer than this version."""
    if "format" not in values or "settings" not in values:
        raise IndexRefused(f"{name} holds no index of roughly; make one with `roughly index create`")
    found = int(values["format"])
    if found > schema.FORMAT:
        raise IndexRefused(
            f"{name} has format {found}, and this version knows formats up to {schema.FORMAT}; use a newer roughly"
        )
    return found


def check_same(config: IndexConfig, settings: Settings, name: str, lexicon: Lexicon | None = None) -> None:
    """Refuse settings that would give other verdicts than those of the index, naming every difference."""
    method = methods.make(settings, lexicon)
    if fingerprint(settings, method) == config.fingerprint:
        return
    mine, theirs = config.settings.to_dict(), settings.to_dict()
    problems = [
        f"{name} was made with {option} {mine.get(option)!r}, not {theirs.get(option)!r}"
        for option in mine | theirs
        if option not in (*_IRRELEVANT, "options") and mine.get(option) != theirs.get(option)
    ]
    stored, given = methods.contents(config.settings, config.method), methods.contents(settings, method)
    for option in sorted({*mine["options"], *theirs["options"], *stored, *given}):
        one = stored.get(option, mine["options"].get(option))
        other = given.get(option, theirs["options"].get(option))
        if one != other:
            problems.append(f"{name} was made with {option} {one!r}, not {other!r}")
    remedy = "give the settings of the index, or make another index with yours"
    raise SettingsError(*(f"{problem}; {remedy}" for problem in problems or [f"{name} was made with other settings"]))


def _lexicon_bytes(config: IndexConfig) -> bytes:
    """The bytes of the lexicon's file; empty for the bundled lexicon, which is not stored."""
    made = config.method.method if isinstance(config.method, methods.Verified) else config.method
    lexicon = getattr(made, "lexicon", None)
    if lexicon is None or config.settings.options.get("lexicon", DEFAULT) == DEFAULT:
        return b""
    given = config.settings.options["lexicon"]
    path = Path(lexicon.name if isinstance(given, Lexicon) or given == COLLECTION else given)
    if not path.is_file() or Lexicon.open(path).fingerprint != lexicon.fingerprint:
        raise SettingsError("an index stores its lexicon, so it has to be a file; save it, and give the file's name")
    return path.read_bytes()
