"""Find tunes that are roughly the same, in whatever key they are played: features that are not words.

A tune is a row of notes (pitch, length). Its features are runs of three steps from note to note, each step an interval
and a ratio of lengths, so a tune that is moved to another key or played at half the speed has the same features.

python examples/melodies.py
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import roughly

Note = tuple[int, int]  # pitch in semitones, length in sixteenths

SCALE = {"c": 0, "d": 2, "e": 4, "f": 5, "g": 7, "a": 9, "b": 11, "C": 12}
TUNES = {
    "Twinkle": "c4 c4 g4 g4 a4 a4 g8 f4 f4 e4 e4 d4 d4 c8 g4 g4 f4 f4 e4 e4 d8 g4 g4 f4 f4 e4 e4 d8",
    "Ode to Joy": "e4 e4 f4 g4 g4 f4 e4 d4 c4 c4 d4 e4 e6 d2 d8 e4 e4 f4 g4 g4 f4 e4 d4 c4 c4 d4 e4 d6 c2 c8",
    "Frère Jacques": "c4 d4 e4 c4 c4 d4 e4 c4 e4 f4 g8 e4 f4 g8 g2 a2 g2 f2 e4 c4 g2 a2 g2 f2 e4 c4 c4 g4 c8 c4 g4 c8",
}


def read(written: str) -> list[Note]:
    """Notes as (pitch, length)."""
    return [(SCALE[note[0]], int(note[1:])) for note in written.split()]


def features(notes: list[Note]) -> list[tuple[int, ...]]:
    """Runs of three steps; a step is (interval, ratio of lengths)."""
    steps = []
    for (pitch, length), (after, longer) in itertools.pairwise(notes):
        ratio = Fraction(longer, length)
        steps.append((after - pitch, ratio.numerator, ratio.denominator))
    return [(*a, *b, *c) for a, b, c in zip(steps, steps[1:], steps[2:], strict=False)]


def main() -> None:
    """Print which tunes are one."""
    tunes = {name: read(written) for name, written in TUNES.items()}
    twinkle, ode = tunes["Twinkle"], tunes["Ode to Joy"]
    tunes["Twinkle in G"] = [(pitch + 7, length) for pitch, length in twinkle]
    tunes["Twinkle, slow"] = [(pitch, 2 * length) for pitch, length in twinkle]
    tunes["Ode with a wrong note"] = [*ode[:9], (ode[9][0] + 1, ode[9][1]), *ode[10:]]
    found = roughly.cluster_features(list(tunes), [features(notes) for notes in tunes.values()], threshold=0.6)
    for best, members in found.clusters.items():
        print(f"{best}: {', '.join(name for name in members if name != best)}")
    alone = sorted(set(tunes) - {name for members in found.clusters.values() for name in members})
    print(f"alone: {', '.join(alone)}")


if __name__ == "__main__":
    main()
