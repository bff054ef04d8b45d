"""What a run found, or would cost, on one screen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from roughly.amounts import counted, share
from roughly.console.terminal_output import size
from roughly.job.result import Result

_EIGHTHS = " ▁▂▃▄▅▆▇█"


def s_curve_lines(curve: dict[str, Any] | None) -> list[str]:
    """The S-curve as one line of blocks from similarity 0 to 1, and the recall at the threshold."""
    if not curve or "points" not in curve:
        return []
    points = curve["points"]
    blocks = "".join(_EIGHTHS[round(points[i][1] * 8)] for i in range(0, 101, 2))
    at = {round(x, 2): p for x, p in curve.get("found_at_median", points)}
    how = _keys_of(curve)
    shown = "  ".join(f"{s:.1f}: {at[s]:.3f}" for s in (0.5, 0.6, 0.7, 0.8, 0.9) if s in at)
    return [
        f"candidates  {how}; a pair at {curve['threshold']:g} is found with probability {found_text(curve)}",
        f"            0 {blocks} 1",
        f"            {shown}{' for documents of median length' if 'found' in curve else ''}",
    ]


_MEASURED = ("points", "recall", "threshold", "lengths", "found", "found_at_median")


def found_text(curve: dict[str, Any]) -> str:
    """The chance that a pair at the threshold is found, by the lengths of documents where it depends on them."""
    if "found" not in curve:
        return f"{curve['recall']:.4f}"
    found, lengths = curve["found"], curve["lengths"]
    words = f"{', '.join(f'{n:,}' for n in lengths[:-1])} and {lengths[-1]:,} words (quartiles)"
    return f"{', '.join(f'{p:.2f}' for p in found[:-1])} and {found[-1]:.2f} for documents of {words}"


def _keys_of(curve: dict[str, Any]) -> str:
    if "bands" in curve:
        return f"{curve['bands']} bands × {curve['rows']} rows"
    if "probes" in curve:
        return f"{curve['probes']} probes each"
    values = {name: value for name, value in curve.items() if name not in _MEASURED}
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in values.items() if value not in ("", []))


def _finds_lines(finds: str | None) -> list[str]:
    """Which pairs are found, where the method has no S-curve."""
    return [f"finds       {finds}"] if finds else []


def judged_lines(run: dict[str, Any]) -> list[str]:
    """How pairs were judged, their number, and the documents that the method could not sign."""
    n, on = run["counts"], run["judged"]["on"]
    lines = []
    if "candidate_pairs" in n and on == "text":
        lines.append(
            f"verified    {counted(n['candidate_pairs'], 'candidate pair')} exactly; "
            f"{n['verified_pairs']:,} at or above the threshold"
        )
    if on != "text" or run["settings"]["method"] != "minhash":
        lines.append(f"judged      {run['judged']['how']}")
    lines += _finds_lines(run["judged"].get("finds"))
    if "candidate_pairs" in n and on != "text":
        lines.append(f"pairs       {n['candidate_pairs']:,} compared, {n['verified_pairs']:,} found")
    if n.get("not_html"):
        lines.append(f"no HTML     {_documents(n['not_html'])}, compared by words (--markup html reads all as HTML)")
    if n.get("unsigned"):
        lines.append(f"unsigned    {_documents(n['unsigned'])} without a key: too little text was left")
    if n.get("short_documents"):
        lines.append(f"short       {_documents(n['short_documents'])} too short for a super shingle")
    if n.get("common_keys"):
        lines.append(f"common      {counted(n['common_keys'], 'key')} left out: too many documents have them")
    if n.get("mostly_common"):
        lines.append(f"common      {_documents(n['mostly_common'])} of little but common keys: found by the rarest")
    return lines


def date_lines(dates: dict[str, Any]) -> list[str]:
    """Dates that were not read, and suspicious ones."""
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


def limit_lines(resources: dict[str, Any]) -> list[str]:
    """What the control group of a container allows, and what the run used of it; nothing where there is no limit."""
    processors, memory = resources["limits"]["processors"], resources["limits"]["memory"]
    allowed = []
    if processors is not None:
        allowed.append(f"{processors:g} processors")
    if memory is not None:
        allowed.append(f"{memory >> 20}MB")
    used = f"{resources['threads']} threads and --memory {resources['memory'] >> 20}MB"
    return [f"limits      {' and '.join(allowed)} in this control group: the run used {used}"] if allowed else []


def against_lines(against: dict[str, Any] | None) -> list[str]:
    """What was removed because an archive or a collection has it; the lines below it are about the rest."""
    if against is None:
        return []
    removed, documents = against["removed"], against["documents"]
    return [
        f"against     {removed:,} of {documents:,} removed ({share(removed, documents)}): {against['archive']} has them"
    ]


def print_summary(result: Result, output: Path | None, files: Sequence[tuple[str, Path]] = ()) -> None:
    """The counts, the recall, and the paths: the folder of the run, and single files by what they hold."""
    run = result.summary
    n = run["counts"]
    seconds = max(run["seconds"], 1e-9)
    removed, saved = share(n["removed"], n["documents"]), share(n["removed_bytes"], n["bytes"])
    for line in against_lines(run.get("against")):
        print(line)
    print(f"documents   {n['documents']:,} in, {n['kept']:,} kept, {n['removed']:,} removed ({removed})")
    print(f"text        {size(n['bytes'])} in, {size(n['removed_bytes'])} removed ({saved})")
    print(f"clusters    {n['clusters']:,} of two or more; the largest has {n['largest_cluster']:,}")
    alike = "with the same DOM" if run["settings"].get("tokens") == "dom" else "lexically equivalent"
    print(f"equal       {n['identical']:,} identical, {n['lexical']:,} {alike}, {n['empty']:,} empty")
    if n.get("shingle_equivalent"):
        print(f"            {n['shingle_equivalent']:,} shingle-equivalent: the same shingles, other words or order")
    for line in [*judged_lines(run), *s_curve_lines(run["s_curve"])]:
        print(line)
    if n["rejected"] and output is not None:
        print(f"rejected    {counted(n['rejected'], 'record')}; see {output / 'quarantine.jsonl'}")
    for line in date_lines(run["dates"]):
        print(line)
    for note in run["guesses"]:
        print(f"guessed     {note}")
    for line in limit_lines(run["resources"]):
        print(line)
    print(f"took        {seconds:.1f} s, {size(n['bytes'] / seconds)}/s, peak memory {size(run['peak_memory'])}")
    for what, path in files:
        print(f"{what:<12}{path}")
    if output is not None:
        print(f"report      {output / 'report.html'}")


def print_plan(plan: dict[str, Any]) -> None:
    """What a run would cost."""
    print(f"input       {counted(plan['parts'], 'file')}, {size(plan['input_bytes'])}")
    print(f"documents   about {plan['documents']:,}, {size(plan['text_bytes'])} of text")
    print(f"sample      {counted(plan['sample_documents'], 'document')}, in {plan['sample_seconds']:.1f} s")
    for line in [*s_curve_lines(plan["s_curve"]), *_finds_lines(plan["finds"])]:
        print(line)
    if plan["candidate_share"]:
        print(f"to verify   {100 * plan['candidate_share']:.0f} % of the documents, as far as a sample can tell")
    print(f"time        about {plan['seconds']:.0f} s on {plan['threads']} threads")
    print(f"memory      about {size(plan['memory'])} of the {size(plan['memory_limit'])} set")
    print(f"disk        about {size(plan['disk'])} while it runs, {size(plan['output_bytes'])} of output")


def print_spark_plan(plan: dict[str, Any]) -> None:
    """What a run on Spark would cost."""
    print(f"input       {counted(plan['parts'], 'file')}, {size(plan['input_bytes'])}")
    print(f"documents   about {plan['documents']:,}, {size(plan['text_bytes'])} of text")
    for line in [*s_curve_lines(plan["s_curve"]), *_finds_lines(plan["finds"])]:
        print(line)
    print("stage       shuffled        kept")
    for stage in plan["stages"]:
        print(f"  {stage['name']:<10}{size(stage['shuffled']):<16}{size(stage['stored'])}")
    total = size(sum(stage["shuffled"] for stage in plan["stages"]))
    print(f"shuffled    {total} in all, {plan['shuffled_a_document']:.0f} bytes per document")
    print(f"work        about {plan['core_seconds']:.0f} s of one core")
    print(
        f"executors   {plan['executors']:,} of {plan['cores']} cores and {size(plan['executor_memory'])} "
        f"would do it in about {plan['seconds']:.0f} s"
    )
