"""What all commands do alike: Ctrl-C, JSON, and records that were rejected."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from click.testing import CliRunner

from roughly.console.commands import command
from roughly.console.terminal_output import end, print_json
from roughly.declarations import option
from roughly.errors import Interrupted
from roughly.model import Reject


@dataclass(frozen=True, kw_only=True)
class CountOptions:
    """Options of a command made for a test."""

    count: int = option(0, "How many.")


def outcome(run: Any, *typed: str) -> Any:
    return CliRunner().invoke(command(CountOptions, run, name="count"), typed)


@pytest.mark.parametrize(
    ("stop", "message"),
    [(KeyboardInterrupt(), "stopped"), (Interrupted("stopped; go on with --resume"), "stopped; go on with --resume")],
)
def test_ctrl_c_ends_every_command_with_130(stop: BaseException, message: str) -> None:
    def run(options: CountOptions) -> None:
        raise stop

    done = outcome(run)
    assert done.exit_code == 130 and done.stderr == f"\n{message}\n" and done.stdout == ""


@pytest.mark.parametrize(("count", "code"), [(0, 0), (2, 3), (7, 3)])
def test_rejected_records_are_named_and_counted(count: int, code: int) -> None:
    def run(options: CountOptions) -> None:
        print_json({"name": "é"})
        end([Reject("a.jsonl", f"line {n}", "no JSON") for n in range(options.count)])

    done = outcome(run, "--count", str(count))
    assert done.exit_code == code and json.loads(done.stdout) == {"name": "é"}
    named = [f"rejected: a.jsonl, line {n}: no JSON" for n in range(min(count, 5))]
    assert done.stderr.splitlines() == named + [f"{count} records were rejected"] * (count > 0)


def test_a_check_that_failed() -> None:
    done = outcome(lambda options: end([], failed=True))
    assert done.exit_code == 3 and done.stderr == ""
