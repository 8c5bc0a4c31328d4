"""What `make evidence` publishes of a run: the claims as a table, and the page that explains all."""

from collections import Counter
from collections.abc import Iterable
from functools import cache

import pandas as pd

from clusterlens.items import PAPERS, Item, read_items
from clusterlens.logs import duration
from clusterlens.metrics.shown import merge_intervals
from clusterlens.verify.claims import COLUMNS, VERDICTS
from clusterlens.verify.published import read_claims
from clusterlens.verify.run import Run

WHY = "no verdict because"
TRAINED = {  # the tables of trained models, with their titles
    ("spiking", "table2"): "S Table 2: losses and accuracies after the last epoch",
    ("attention_clusters", "table1"): "A Table 1: losses, accuracies and F1 of the language models",
}
TRAINING = ("train_model", "pretrain_longformer", "finetune_longformer")
MEANING = {
    "on the paper's own terms": "reproduced, not reproduced, undecided, cannot hold, contradicts itself",
    "on real data, at a smaller scale than the paper's": "held, did not hold, undecided at laptop scale",
    "on stand-ins or the user's own files, which says nothing about the paper": "held here, did not hold here",
    "without a verdict": "not comparable here, not run",
}


def claims_table(run: Run) -> pd.DataFrame:
    """The claims of the run, with a line for each that has no verdict."""
    reasons = {(item.paper, item.name): why for item, why in not_made(run)}
    table = run.claims.reindex(columns=COLUMNS, fill_value="")
    table.insert(COLUMNS.index("verdict") + 1, WHY, [why_not(claim, reasons) for claim in table.to_dict("records")])
    return table


def why_not(claim: dict, reasons: dict[tuple[str, str], str]) -> str:
    """Why a claim has no verdict; empty where it has one."""
    if claim["verdict"] not in ("not run", "not comparable here"):
        return ""
    if (claim["paper"], claim["item"]) in reasons:
        return reasons[claim["paper"], claim["item"]]
    if not claim["threshold"]:
        return f"the result has {claim['ours']}" if claim["ours"] else "no check is written for it"
    if claim["check"] == "as_published":
        return f"the published numbers are of another scale or other data: {claim['ours']}"
    if claim["id"] in bound_to_scale():
        return bound_to_scale()[claim["id"]]
    return "the interval over seeds includes the threshold, on data that are not the paper's"


@cache
def bound_to_scale() -> dict[str, str]:
    """The claims about numbers that mean nothing at any other scale than the paper's, and why."""
    return {claim["id"]: claim["bound_to_scale"] for claim in read_claims() if "bound_to_scale" in claim}


def not_made(run: Run) -> list[tuple[Item, str]]:
    """The items that were not there when the claims were judged, and why, as far as logs and data tell."""
    needed: dict[tuple[str, str], set[str]] = {}
    for claim in read_claims():
        needed.setdefault((claim["paper"], claim["item"]), set()).update(claim.get("data", []))
    found = []
    for item in read_items():
        if item.judged and not run.has(item.paper, item.name):
            lacking = sorted(needed.get((item.paper, item.name), set()))
            told = [line for name in lacking if (line := lacks(run, name))]
            found.append((item, "; ".join(told) or "it was not asked for, or its job did not end"))
    return found


def lacks(run: Run, dataset: str) -> str:
    """Why a data set is not there, in the words of the job that failed; empty where it is there."""
    if (run.folders["resources"] / dataset / "manifest.json").is_file():
        return ""
    return run.failures().get(f"retrieve_dataset/{dataset}", f"{dataset} was not retrieved")


def page(run: Run) -> str:
    """README.md of the evidence; every number in it comes from the run's files."""
    return "\n".join(part.rstrip() + "\n" for part in (opening(run), data(run), verdicts(run), trained(run), gaps(run)))


def opening(run: Run) -> str:
    facts = [(name, listed(run.counted(name))) for name in ("machine", "device", "commit", "command")]
    walls = {rule: sum(one["seconds"] for one in jobs) for rule, jobs in run.by_rule().items()}
    cpu = {rule: seconds for rule in walls if (seconds := run.cpu_seconds(rule))}
    facts += [
        ("began, ended", f"{run.began:%Y-%m-%d %H:%M} to {run.ended:%Y-%m-%d %H:%M} UTC, breaks included"),
        ("time", f"{duration(sum(walls.values()))} added over all jobs, {duration(sum(cpu.values()))} of CPU time"),
    ]
    rules = [
        (rule, len(jobs), seeds(jobs), duration(walls[rule]), duration(cpu[rule]))
        for rule, jobs in run.by_rule().items()
        if rule in cpu
    ]
    return f"""# Evidence of the laptop run

`make evidence` writes this folder from `{run.results}` after `make laptop`; nothing here is written by hand.

- [claims.csv](claims.csv): every claim with its verdict, our number and its 95 % interval (`low`, `high`), the
  threshold, seeds, scale, data that are not the paper's, what a fair judgement still waits for, and `{WHY}`.
- [numbers.csv](numbers.csv): every published number beside ours.
- [verdicts.png](verdicts.png): all claims in one picture.

## How it was made

{table(("", ""), facts)}

The time of a job is that of its own work, its CPU time that of the whole process, imports included, where Snakemake
measured it: in the rules below. A job that was interrupted and resumed counts with its last attempt only.

{table(("rule", "jobs", "seeds", "time", "CPU time"), rules)}
"""


def seeds(jobs: list[dict]) -> str:
    found = sorted({seed for job in jobs for seed in job["seeds"]})
    runs = found == list(range(found[0], found[-1] + 1)) if len(found) > 2 else False
    return f"{found[0]} to {found[-1]}" if runs else ", ".join(map(str, found)) or "–"


def data(run: Run) -> str:
    rows = []
    for name, one in run.datasets().items():
        counts = ", ".join(f"{split} {count:,}" for split, count in one.get("counts", {}).items())
        labels = "; ".join(f"{entry['label']} ({entry.get('kind', 'stand-in')})" for entry in one["stand_ins"])
        rows.append((name, one["title"], one["source"], counts or "–", labels or "as published"))
    heading = ("data set", "title", "source", "counts", "what was used in its place")
    return f"""## Data

Where something else than the published data was used, the last column says what: part of the real data or other real
data (`real`), the user's own files (`own files`), or a stand-in from installed packages or from a seed (`embedded`).

{table(heading, rows)}
"""


def verdicts(run: Run) -> str:
    found = Counter(run.claims["verdict"])
    names = [name for name in VERDICTS if found[name]]
    rows = []
    for paper, title in PAPERS.items():
        own = Counter(run.claims.loc[run.claims["paper"] == paper, "verdict"])
        rows.append((title, *(own[name] for name in names), own.total()))
    rows.append(("all", *(found[name] for name in names), found.total()))
    meanings = "\n".join(f"- {meaning}: *{words}*" for meaning, words in MEANING.items())
    return f"""## Verdicts

![One tile per claim, by paper and item, coloured by verdict](verdicts.png)

{table(("", *names, "all"), rows)}

{meanings}
"""


def trained(run: Run) -> str:
    parts = ["## Trained models\n", "Mean over seeds ± half the width of the 95 % interval.\n"]
    rules = [rule for rule in TRAINING if rule in run.by_rule()]
    for (paper, item), title in TRAINED.items():
        parts.append(f"### {title}\n")
        if run.has(paper, item):
            cells = pd.read_csv(run.results / paper / f"{item}.csv", dtype=str, keep_default_na=False)
            heading, *lines = [
                [f"{cell} ± {half}" if half else cell for cell, half in line] for line in merge_intervals(cells)
            ]
            parts.append(table(heading, lines) + "\n")
        else:
            parts.append("Not made.\n")
    parts += ["### Settings\n", table(("rule", "settings"), [(rule, settings(run.by_rule()[rule])) for rule in rules])]
    return "\n".join(parts)


def settings(jobs: list[dict]) -> str:
    """The settings that all jobs share, how many images or texts are used among them."""
    values = pd.json_normalize([job["settings"] for job in jobs], sep="/").astype(str)
    same = values.columns[values.nunique() == 1]
    return ", ".join(
        f"{name} {values[name].iloc[0] or 'none'}" for name in same if name not in ("device", "runs", "seed")
    )


def gaps(run: Run) -> str:
    rows = [(f"{item.paper}/{item.name}", item.title, why) for item, why in not_made(run)]
    parts = ["## What was not made\n", table(("item", "title", "why"), rows) if rows else "Every item was made."]
    if failed := run.failures():
        parts += ["\nJobs whose last attempt failed:\n", table(("job", "its last line"), failed.items())]
    return "\n".join(parts) + "\n"


def listed(found: Counter) -> str:
    """The one value, or each with its number of jobs."""
    if len(found) == 1:
        return f"`{next(iter(found))}`"
    return "<br>".join(f"`{value}` ({count} of {found.total()} jobs)" for value, count in found.most_common())


def table(heading: Iterable[str], rows: Iterable[Iterable]) -> str:
    """In Markdown."""
    lines = [list(heading), ["---"] * len(list(heading)), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)
