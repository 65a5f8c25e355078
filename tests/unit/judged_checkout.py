"""A checkout whose grids are judged by hosted models: every stage as its job runs, on sockets.

Contestants draw here; what judges say is scripted, by the label of the icon and the attempt.
"""

import json
import shutil
from collections import Counter, defaultdict
from threading import Lock

from fakes.billing import Painted
from planned_checkout import ROOT, PlannedCheckout
from runner_rig import KEY, without_keys

from gensight.cli.checkout import load_checkout, load_config
from gensight.footers import read_footer
from gensight.freshness import settle
from gensight.plan import STAGES, Plan
from gensight.records import Judgement, RowFile, Sample, Score, Summary
from gensight.runner.forecast import files_below, needed_below
from gensight.stages.extract import extract
from gensight.stages.generate import generate
from gensight.stages.judge import judge
from gensight.stages.render import render
from gensight.stages.sample import sample
from gensight.stages.score import score_files
from gensight.stages.summarize import summarize
from gensight.stamps import mark_built

N = 6
#: The points of the scripted judge, and the most there are.
POINTS = {"likeness": 7, "tidiness": 3}
MOST = 15
METRICS = ["total", "total_least", "total_most", "unread_share", "rescore_change"]
REFERENCE = {"adapter": "reference", "answers": "text", "tasks": ["text_to_pixel"]}
FILES = {
    "config/config.yaml": {
        "run": {
            "name": "judged",
            "models": ["drawer"],
            "benchmarks": ["icons"],
            "prompts": ["grid_8"],
        },
        "budget": {"usd": 100},
        "keys_file": "keys.env",
    },
    "config/models/drawer.yaml": {
        **REFERENCE,
        "generation": {"method": "drawer"},
        "role": "ceiling",
        "failed_above": None,
        "display": {"label": "Drawer"},
    },
    # Its answers are those of the drawer.
    "config/models/copyist.yaml": {
        **REFERENCE,
        "generation": {"method": "drawer"},
        "role": "disturbed",
        "failed_above": None,
        "display": {"label": "Copyist"},
    },
    "config/models/chance.yaml": {
        **REFERENCE,
        "generation": {"method": "noise_grid"},
        "role": "floor",
        "failed_above": None,
        "display": {"label": "Chance"},
    },
    # A hosted contestant; what it answers is put into the ledger.
    "config/models/teller.yaml": {
        "adapter": "openai_responses",
        "generation": {"model": "gpt-5.4", "max_output_tokens": 64},
        "answers": "text",
        "tasks": ["text_to_pixel"],
        "prompts": ["grid_8"],
        "display": {"label": "Teller"},
    },
    "config/models/gemini_judge.yaml": {
        "adapter": "google_generate",
        "generation": {
            "model": "gemini-3.5-flash",
            "api_version": "v1beta",
            "max_output_tokens": 256,
            "thinking": 0,
        },
        "answers": "text",
        "tasks": [],
        "parameters": {"fixed": {"response_modalities": []}},
        "answered_as": ["gemini-3.6-flash"],
        "limits": {"in_flight": 2},
        "display": {"label": "Gemini"},
    },
    "config/models/claude_judge.yaml": {
        "adapter": "anthropic_messages",
        "generation": {"model": "claude-opus-4-7", "max_tokens": 64},
        "answers": "text",
        "tasks": [],
        "limits": {"in_flight": 2},
        "display": {"label": "Claude"},
    },
    "config/judges/marker.yaml": {
        "rubrics": ["icon"],
        "models": ["gemini_judge"],
        "display": {"label": "Marker"},
    },
    "resources/rubrics/icon.yaml": {
        "task": "text_to_pixel",
        "reply": "json",
        "dimensions": [{"name": "likeness", "most": 10}, {"name": "tidiness", "most": 5}],
        "reasons": False,
        "parts": [{"text": "Is this [{label}], in {size} cells?"}, {"picture": "answer"}],
    },
    "config/benchmarks/icons.yaml": {
        "task": "text_to_pixel",
        "dataset": {"module": "icons", "parameters": {"task": "text_to_pixel"}},
        "n": N,
        "prompts": ["grid_8"],
        "scorers": {
            "marks": {
                "extractor": "palette_grid",
                "reading": "grid",
                "judge": "marker",
                "measure": "judged",
                "metrics": [f"judge_{name}" for name in METRICS],
            }
        },
        "display": {"label": "Icons"},
    },
}
GRID = {"palette": ["#000000", "#FFFFFF"], "pixels": ["01010101", "10101010"] * 4}


def reply(**points):
    return json.dumps({**POINTS, **points})


class Script:
    """What the judges say: `said` maps a label to its replies by attempt, the last one for ever."""

    def __init__(self, said=None):
        self.said = said or {}
        self._asked, self._guard = Counter(), Lock()

    def __call__(self, texts, pictures):
        label = "\n".join(texts).split("[")[1].split("]")[0]
        with self._guard:
            place = self._asked[label]
            self._asked[label] += 1
        replies = self.said.get(label, [reply()])
        return Painted(text=replies[min(place, len(replies) - 1)])


class JudgedCheckout(PlannedCheckout):
    """A checkout in the working folder; fakes by provider answer for the judges."""

    def __init__(self, folder, **fakes):
        self.folder = folder
        #: What every file of judgements took, in the order in which they were made.
        self.counts = []
        for name, content in FILES.items():
            self.write(name, content)
        (folder / "Snakefile").touch()
        prompts = folder / "resources/prompts/text_to_pixel"
        prompts.mkdir(parents=True)
        shutil.copy(ROOT / "resources/prompts/text_to_pixel/grid.yaml", prompts)
        shutil.copy(ROOT / "resources/prices.yaml", folder / "resources")
        self.ask_at(**fakes)
        keys = folder / "keys.env"
        keys.touch(mode=0o600)
        keys.write_text(f"GOOGLE_API_KEY={KEY}\nANTHROPIC_API_KEY={KEY}\n")

    def ask_at(self, **fakes):
        """Let the judges be asked at these fakes."""
        urls = {provider: fake.url for provider, fake in fakes.items()}
        self.edit("config/config.yaml", endpoints=urls)

    def set_judge(self, **changes):
        self.edit("config/judges/marker.yaml", **changes)

    # -- making

    def make(self, *stages, **config):
        """Make the files of the run that are not as planned, as jobs do, in their order.

        With `stages` only those; `config` is set in config.yaml first. Return what was made.
        """
        if config:
            self.edit("config/config.yaml", **config)
        project = load_checkout()
        plan = Plan(project)
        files, made = plan.files(), []
        fresh = settle(files, project, main_process=True)
        wanted = [path for path, p in files.items() if p.stage == (stages or ["summaries"])[-1]]
        needed = needed_below(files, wanted, fresh)
        below = {p.path for stage in STAGES for p in files_below(files, wanted, stage)}
        for path, planned in files.items():
            # What is made from a new file is made again.
            is_due = path in needed or (path in below and not set(made).isdisjoint(planned.inputs))
            if is_due and (not stages or planned.stage in stages):
                with without_keys():
                    self._make(planned)
                mark_built(path, read_footer(path).content)
                made.append(path)
        return made

    def _make(self, planned):
        inputs, path, plan = planned.inputs, planned.path, planned.determinants
        match planned.stage:
            case "samples":
                sample(path, plan)
            case "requests":
                render(inputs[0], path, plan)
            case "generations":
                generate(*inputs, path, "ledger", plan, load_config())
            case "predictions":
                extract(inputs[0], inputs[1:], path, plan)
            case "judgements":
                self.counts.append(judge(*inputs, path, "ledger", plan, load_config()))
            case "scores":
                score_files(inputs, path, plan)
            case "summaries":
                summarize(path, plan)

    def make_answers(self):
        """Make everything that is judged, and ask no judge."""
        return self.make("samples", "requests", "generations", "predictions")

    # -- what was made

    def labels(self):
        """Return the labels of the samples, by rank."""
        return [row.query for row in RowFile("results/samples/icons.parquet", Sample)]

    def judgements(self, model="drawer"):
        return list(RowFile(f"results/judgements/{model}/icons/grid_8/marker.parquet", Judgement))

    def by_label(self, model="drawer"):
        """Return the judgements of every label, in the order of the file."""
        labels = {
            row.sample_id: row.query for row in RowFile("results/samples/icons.parquet", Sample)
        }
        found = defaultdict(list)
        for row in self.judgements(model):
            found[labels[row.sample_id]].append(row)
        return found

    def keys(self, *models):
        """Return the distinct keys that judges were asked under."""
        return {row.request_key for model in models for row in self.judgements(model)}

    def numbers(self, label, model="drawer", variant="lenient"):
        """Return the metrics of one label's answer by name, without `judge_`."""
        ranks = {name: rank for rank, name in enumerate(self.labels())}
        rows = RowFile(f"results/scores/{model}/icons/grid_8/marks.parquet", Score)
        return {
            row.name.removeprefix("judge_"): row.value
            for row in rows
            if (row.kind, row.rank, row.variant) == ("metric", ranks[label], variant)
        }

    def summary(self, metric, model="drawer", variant="lenient"):
        (found,) = [
            row
            for row in RowFile("results/summaries/icons.parquet", Summary)
            if (row.metric, row.model, row.variant) == (f"judge_{metric}", model, variant)
            and row.stratum is None
            and row.severity is None
        ]
        return found

    def judge_rows(self):
        """Return the rows of the plan that are about judges, by judging and judged model."""
        rows = self.plan()["rows"]
        return {(row["model"], row["judged"]): row for row in rows if row["judge"] is not None}
