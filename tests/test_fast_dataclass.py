"""Classes made by `fast_dataclass` behave as those of the standard library: every case is made both ways."""

import copy
import dataclasses
import pickle
import re
import threading
from dataclasses import field
from typing import ClassVar

import pytest

from roughly import fast_dataclass
from source_tree import FILES, PACKAGE

MAKERS = [dataclasses.dataclass, fast_dataclass.dataclass]
OPTIONS = [
    {},
    {"frozen": True},
    {"slots": True},
    {"frozen": True, "slots": True},
    {"frozen": True, "kw_only": True},
    {"eq": False},
    {"repr": False},
]


def point(make, **options):
    @make(**options)
    class Point:
        """A point."""

        unit: ClassVar[str] = "m"
        x: int
        y: int = 2
        names: list[str] = field(default_factory=list, compare=False)
        note: str = field(default="n", repr=False)

        @property
        def both(self) -> tuple[int, int]:
            return self.x, self.y

    return Point


@fast_dataclass.dataclass(frozen=True, slots=True)
class Pair:
    left: int
    right: tuple[int, ...] = ()


@fast_dataclass.dataclass(frozen=True)
class Checked:
    value: int = 0

    def __post_init__(self) -> None:
        if self.value < 0:
            raise ValueError("below 0")
        object.__setattr__(self, "value", self.value + 1)


@fast_dataclass.dataclass(frozen=True)
class More(Checked):
    other: str = "o"


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_it_is_as_the_standard_librarys(options):
    ours, theirs = (point(make, **options) for make in reversed(MAKERS))
    for arguments in ({"x": 1}, {"x": 1, "y": 3, "note": "m"}, {"x": 1, "names": ["a"]}):
        one, other = ours(**arguments), theirs(**arguments)
        assert dataclasses.asdict(one) == dataclasses.asdict(other)
        assert one.both == other.both
        assert (repr(one) == repr(other)) == options.get("repr", True)
        assert (one == ours(**arguments)) == (other == theirs(**arguments))
        assert one != other
        assert (ours.__hash__ is None) == (theirs.__hash__ is None)
        if options.get("frozen"):
            assert hash(one) == hash(other)
        assert dataclasses.asdict(dataclasses.replace(one, y=9)) == dataclasses.asdict(dataclasses.replace(other, y=9))
        assert dataclasses.asdict(copy.deepcopy(one)) == dataclasses.asdict(other)
    assert ours(x=1).names is not ours(x=1).names
    assert ours.__match_args__ == theirs.__match_args__
    assert [f.name for f in dataclasses.fields(ours)] == [f.name for f in dataclasses.fields(theirs)]
    assert hasattr(ours, "__slots__") == hasattr(theirs, "__slots__")


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("arguments", [((), {}), ((1, 2, [], "n", 5), {}), ((1,), {"z": 3}), ((1,), {"x": 3})])
def test_wrong_arguments_are_refused_in_the_same_words(options, arguments):
    said = []
    for make in MAKERS:
        with pytest.raises(TypeError) as refused:
            point(make, **options)(*arguments[0], **arguments[1])
        said.append(str(refused.value))
    assert said[0] == said[1]


def test_frozen_objects_cannot_be_changed():
    one = Pair(1)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'left'"):
        one.left = 2
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'left'"):
        del one.left
    assert one == Pair(1)


def test_pickles():
    for one in (Pair(1, (2,)), More(3, "p")):
        assert pickle.loads(pickle.dumps(one)) == one


def test_what_follows_the_initialisation_and_what_is_inherited():
    assert More(1) == More(1, "o") != More(2)
    assert More(1).value == 2
    with pytest.raises(ValueError, match="below 0"):
        More(-1)
    assert Checked(1) != More(1)


def test_what_the_class_defines_itself_is_kept():
    @fast_dataclass.dataclass(frozen=True)
    class Odd:
        value: int

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Odd)

        def __hash__(self) -> int:
            return 7

        def __repr__(self) -> str:
            return "odd"

    assert Odd(1) == Odd(2)
    assert hash(Odd(1)) == 7
    assert repr(Odd(1)) == "odd"


def test_every_class_is_made_by_it():
    """Commands start faster. Import it with `from roughly.fast_dataclass import dataclass`."""
    direct = re.compile(r"from dataclasses import .*\bdataclass\b|@dataclasses\.dataclass")
    found = [str(path.relative_to(PACKAGE)) for path in FILES if direct.search(path.read_text("utf-8"))]
    assert found == ["fast_dataclass.py"]


def test_first_objects_made_on_several_threads():
    for _ in range(20):
        kind = point(fast_dataclass.dataclass, frozen=True)
        start, made = threading.Barrier(4), []

        def make(kind=kind, start=start, made=made):
            start.wait()
            made.append(kind(1))

        threads = [threading.Thread(target=make) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert made == [kind(1)] * 4
