"""What a run found, or would take, in a screenful."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from roughly.job.result import Result

_EIGHTHS = " ▁▂▃▄▅▆▇█"


def size(count: float) -> str:
    """Bytes as people write them."""
    for unit in ("bytes", "KB", "MB", "GB"):
        if count < 1024:
            return f"{count:,.0f} {unit}" if unit == "bytes" or count >= 100 else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TB"


def share(part: int, whole: int) -> str:
    """A percentage."""
    return f"{100 * part / whole:.1f} %" if whole else "0 %"


def s_curve_lines(curve: dict[str, Any] | None) -> list[str]:
    """The S-curve as one line of blocks from similarity 0 to 1, and what it promises."""
    if not curve or "points" not in curve:
        return []
    points = curve["points"]
    blocks = "".join(_EIGHTHS[round(points[i][1] * 8)] for i in range(0, 101, 2))
    at = {round(x, 2): p for x, p in points}
    how = _keys_of(curve)
    shown = "  ".join(f"{s:.1f}: {at[s]:.3f}" for s in (0.5, 0.6, 0.7, 0.8, 0.9) if s in at)
    return [
        f"candidates  {how}; a pair at {curve['threshold']:g} is found with probability {curve['recall']:.4f}",
        f"            0 {blocks} 1",
        f"            {shown}",
    ]


def _keys_of(curve: dict[str, Any]) -> str:
    if "bands" in curve:
        return f"{curve['bands']} bands × {curve['rows']} rows"
    if "probes" in curve:
        return f"{curve['probes']} probes each"
    message = {name: value for name, value in curve.items() if name not in ("points", "recall", "threshold")}
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in message.items() if value not in ("", []))


def judged_lines(run: dict[str, Any]) -> list[str]:
    """How pairs were judged, how many there were, and which documents the method could not sign."""
    n, on = run["counts"], run["judged"]["on"]
    lines = []
    if "candidate_pairs" in n and on == "text":
        lines.append(
            f"verified    {n['candidate_pairs']:,} candidate pairs exactly; "
            f"{n['verified_pairs']:,} at or above the threshold"
        )
    if on != "text" or run["settings"]["method"] != "minhash":
        lines.append(f"judged      {run['judged']['how']}")
    if "candidate_pairs" in n and on != "text":
        lines.append(f"pairs       {n['candidate_pairs']:,} compared, {n['verified_pairs']:,} found")
    if n.get("unsigned"):
        lines.append(f"unsigned    {_documents(n['unsigned'])} without a key: nothing, or too little, was left")
    if n.get("short_documents"):
        lines.append(f"short       {_documents(n['short_documents'])} too short for a super shingle")
    if n.get("common_keys"):
        lines.append(f"common      {n['common_keys']:,} keys left out: too many documents have them")
    return lines


def date_lines(dates: dict[str, Any]) -> list[str]:
    """Dates that were not read, and those that are hardly right."""
    hints = {
        "unread": "unread; they count as missing. Say how they are written with --date-format",
        "suspicious": "before the year 1000 or after next year",
    }
    lines = []
    for name, hint in hints.items():
        if dates[name]:
            lines.append(f"dates       {dates[name]:,} {hint}:")
            for one in dates[name + "_examples"]:
                lines.append(f"            {one['date']!r} ({one['file']}, {one['record']})")
    return lines


def _documents(count: int) -> str:
    return f"{count:,} document{'' if count == 1 else 's'}"


def print_summary(result: Result, output: Path) -> None:
    """The counts, the promise, and where everything is."""
    run = result.summary
    n = run["counts"]
    seconds = max(run["seconds"], 1e-9)
    gone, saved = share(n["removed"], n["documents"]), share(n["removed_bytes"], n["bytes"])
    print(f"documents   {n['documents']:,} in, {n['kept']:,} kept, {n['removed']:,} removed ({gone})")
    print(f"text        {size(n['bytes'])} in, {size(n['removed_bytes'])} removed ({saved})")
    print(f"clusters    {n['clusters']:,} of two or more; the largest has {n['largest_cluster']:,}")
    print(f"equal       {n['identical']:,} identical, {n['lexical']:,} lexically equivalent, {n['empty']:,} empty")
    for line in [*judged_lines(run), *s_curve_lines(run["s_curve"])]:
        print(line)
    if n["rejected"]:
        print(f"rejected    {n['rejected']:,} records; see {output / 'quarantine.jsonl'}")
    for line in date_lines(run["dates"]):
        print(line)
    for note in run["guesses"]:
        print(f"guessed     {note}")
    print(f"took        {seconds:.1f} s, {size(n['bytes'] / seconds)}/s, peak memory {size(run['peak_memory'])}")
    print(f"report      {output / 'report.html'}")


def print_plan(plan: dict[str, Any]) -> None:
    """What a run would take."""
    print(f"input       {plan['parts']:,} files, {size(plan['input_bytes'])}")
    print(f"documents   about {plan['documents']:,}, {size(plan['text_bytes'])} of text")
    print(f"sample      {plan['sample_documents']:,} documents, in {plan['sample_seconds']:.1f} s")
    for line in s_curve_lines(plan["s_curve"]):
        print(line)
    if plan["candidate_share"]:
        print(f"to verify   {100 * plan['candidate_share']:.0f} % of the documents, as far as a sample can tell")
    print(f"time        about {plan['seconds']:.0f} s on {plan['threads']} threads")
    print(f"memory      about {size(plan['memory'])} of the {size(plan['memory_limit'])} set")
    print(f"disk        about {size(plan['disk'])} while it runs, {size(plan['output_bytes'])} of output")


def print_spark_plan(plan: dict[str, Any]) -> None:
    """What a run on Spark would take."""
    print(f"input       {plan['parts']:,} files, {size(plan['input_bytes'])}")
    print(f"documents   about {plan['documents']:,}, {size(plan['text_bytes'])} of text")
    for line in s_curve_lines(plan["s_curve"]):
        print(line)
    print("stage       shuffled        kept")
    for stage in plan["stages"]:
        print(f"  {stage['name']:<10}{size(stage['shuffled']):<16}{size(stage['stored'])}")
    total = size(sum(stage["shuffled"] for stage in plan["stages"]))
    print(f"shuffled    {total} in all, {plan['shuffled_a_document']:.0f} bytes a document")
    print(f"work        about {plan['core_seconds']:.0f} s of one core")
    print(
        f"executors   {plan['executors']:,} of {plan['cores']} cores and {size(plan['executor_memory'])} "
        f"would do it in about {plan['seconds']:.0f} s"
    )
