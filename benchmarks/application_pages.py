"""Pages of a made web application, compared by their words and by their DOM.

    python -m benchmarks.application_pages      # the table of docs/tune.md

A *view* is a template of some components with names of its own; its pages are the same, whatever records they show. The
same records are shown by several views, so words say which records a page shows, and the DOM says which view it is of.
Number of rows, ids with numbers, messages and dialogs differ from page to page. Labels are split and scored as in
`benchmarks.tuning`.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.tuning import every_trial
from roughly.settings import ReadOptions, Resources
from roughly.tools.tune.draw import DrawSize, draw
from roughly.tools.tune.frontier import Goal, Tried
from roughly.tools.tune.labelled_sample import SampleLabels
from roughly.tools.tune.reference import score
from roughly.tools.tune.selection import Selection

_WORDS = (
    "order invoice customer ticket project report branch supplier account payment north south grey blue open closed"
)
_NAMES = "order client stock audit staff media topic asset claim route batch grade lease venue quota visit"

Records = Sequence[Sequence[str]]


def _table(name: str, records: Records) -> str:
    rows = "".join(
        f'<tr class="{name}-row" id="{name}-{n}">{"".join(f"<td>{cell}</td>" for cell in record)}</tr>'
        for n, record in enumerate(records)
    )
    return f'<table class="{name}-table striped"><tbody>{rows}</tbody></table>'


def _cards(name: str, records: Records) -> str:
    return f'<div class="{name}-grid">' + "".join(
        f'<article class="card {name}-card"><h3>{record[0]}</h3><p class="lead">{" ".join(record[1:])}</p></article>'
        for record in records
    ) + "</div>"  # fmt: skip


def _form(name: str, records: Records) -> str:
    fields = "".join(
        f'<label>{cell}</label><input name="{name}_{n}" class="field">' for n, cell in enumerate(records[0])
    )
    return f'<form id="{name}-form">{fields}<button class="{name}-save">Save</button></form>'


def _items(name: str, records: Records) -> str:
    return f'<ul class="{name}-items">' + "".join(
        f'<li class="item"><a name="{name}{n}">{" ".join(record)}</a><span class="badge">{n}</span></li>'
        for n, record in enumerate(records)
    ) + "</ul>"  # fmt: skip


def _details(name: str, records: Records) -> str:
    return "".join(f'<dl class="{name}-facts"><dt>{r[0]}</dt><dd>{" ".join(r[1:])}</dd></dl>' for r in records)


_COMPONENTS: Sequence[Callable[[str, Records], str]] = (_table, _cards, _form, _items, _details)


def pages(views: int = 40, states: int = 8, seed: int = 0) -> list[dict[str, str]]:
    """Pages with `id`, `text` (HTML) and `view`."""
    chance = random.Random(seed)
    names, words = _NAMES.split(), _WORDS.split()
    templates = [
        [
            (chance.choice(_COMPONENTS), f"{chance.choice(names)}{chance.randrange(30)}")
            for _ in range(chance.randint(2, 4))
        ]
        for _ in range(views)
    ]
    shown = [
        [[f"{chance.choice(words)}{chance.randrange(500)}" for _ in range(4)] for _ in range(chance.randint(4, 14))]
        for _ in range(states)
    ]
    made = []
    for view, template in enumerate(templates):
        for state, records in enumerate(shown):
            own = [record for record in records if chance.random() < 0.9] or records
            body = "".join(component(name, own) for component, name in template)
            message = f'<div class="alert alert-{chance.choice(names)}">Saved</div>' if chance.random() < 0.3 else ""
            dialog = '<dialog class="modal"><p>Are you sure?</p></dialog>' if chance.random() < 0.2 else ""
            html = (
                '<!DOCTYPE html><html><head><meta name="viewport"><title>Application</title></head><body class="app">'
                '<nav class="menu"><a class="link">Home</a><a class="link">Search</a><a class="link">Help</a></nav>'
                f'{message}<main id="content">{body}</main>{dialog}<footer class="legal">Imprint</footer></body></html>'
            )
            made.append({"id": f"{view}-{state}", "text": html, "view": str(view)})
    return made


def measured(tried: Sequence[Tried], seeds: int) -> list[float]:
    """The mean F1 on the other half of the default, the best threshold beside it, and the best of all settings."""
    shape = tried[0].trial.shape
    plain = [
        n
        for n, one in enumerate(tried)
        if one.trial.shape == shape and len(one.trial.family) <= len(tried[0].trial.family)
    ]
    default = [n for n in plain if tried[n].trial.threshold == 0.8]
    found = []
    for seed in range(seeds):
        half = np.random.default_rng(seed).permutation(len(tried[0].columns)) % 2 == 0
        for among in (default, plain, range(len(tried))):
            best = Selection([tried[n] for n in among], Goal(), seed).best(half)
            found.append(0.0 if best is None else score(tried[among[best]].columns, ~half).f1)
    return [float(value) for value in np.reshape(found, (seeds, 3)).mean(axis=0)]


def main() -> int:
    """Print F1 of each way to choose, by what is compared."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=0)
    given = parser.parse_args()
    resources, labels = Resources(threads=given.threads), SampleLabels.of_column("view")
    sample = draw(
        pages(), None, wanted=DrawSize(10**6, 0, False, True, True), set_of=labels.take, resources=resources,
        reading=ReadOptions(url_column="view", text_column="text", markup="html"),
    )  # fmt: skip
    words = list(every_trial(sample, labels, resources))
    dom = list(every_trial(sample.read_as("dom"), labels, resources))
    print("| compared | default 0.8 | best threshold | `tune` |\n|---|---:|---:|---:|")
    for name, tried in {"words": words, "`--tokens dom`": dom}.items():
        print(f"| {name} | {' | '.join(f'{value:.3f}' for value in measured(tried, given.seeds))} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
