"""Real-looking texts, and strategies that make texts and token sequences of every sort."""

from __future__ import annotations

import random

from hypothesis import strategies as st

STORY = """LISBON, March 9 - Heavy rain closed the coast road between Ericeira and Sintra on Friday, and drivers
were asked to use the motorway. The civil protection service said that two bridges had been damaged and that
engineers would inspect them as soon as the water fell. No one was hurt, a spokeswoman said.

The mayor of Mafra told reporters that the council had asked for money to repair the sea wall three years
ago. "We were told to wait," she said. The ministry of public works declined to comment on the request.

Schools in the district will open as usual on Monday. Trains are running with delays of up to forty minutes, and the
railway company advised passengers to look at its timetable before they set out. Forecasters expect the wind
to drop during the night, with showers returning on Sunday afternoon.
"""

PARAGRAPH = """Fishermen at Ericeira kept their boats in harbour for a second day. One of them, who has
worked on the coast for thirty years, said that he could not remember a storm so early in the spring. The harbour master
warned owners to double their moorings before the evening tide and to stay away from the outer mole.
"""

SENTENCE = "The last storm of such strength was recorded eleven years ago, in the winter of the great floods. "


def edited(text: str, seed: int, rate: float) -> str:
    """The text with a share of its words replaced, dropped or doubled, by a seed."""
    chance = random.Random(seed)
    words: list[str] = []
    for word in text.split(" "):
        if chance.random() >= rate:
            words.append(word)
            continue
        deed = chance.randrange(3)
        words.extend([f"changed{chance.randrange(1000)}"] if deed == 0 else [] if deed == 1 else [word, word])
    return " ".join(words)


# Letters, marks, scripts without spaces, separators and troublemakers: few, so that short texts share tokens.
_ALPHABET = "aAbB é\u0301İßΣς\u4e2d\u6587\u3042ไทย ٣नि,.\n\t-_'\x00\u200d\u202e\ufeff\U0001f600\ud800"
texts = st.text(st.sampled_from(_ALPHABET), max_size=60) | st.text(max_size=40)
words = st.lists(
    st.sampled_from(["a", "rose", "is", "the", "red", "Red,", "rose.", "of", "and", "漢字", "été"]), max_size=60
)
prose = words.map(" ".join)
tokens = st.integers(1, 12).flatmap(lambda top: st.lists(st.integers(0, top), max_size=70))
