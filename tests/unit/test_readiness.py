"""What keeps models from running here: every reason, from real files, held against what runs."""

import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from gensight import models
from gensight.cli.readiness import (
    ENCODER_NEEDS,
    NEEDS,
    QUANTISATION,
    Machine,
    is_importable,
    readiness,
)
from gensight.errors import GensightError
from gensight.models import Site, external_command
from gensight.runner.server import running
from gensight.specs.base import read_yaml
from gensight.specs.project import load_project
from gensight.specs.protocols import PROTOCOLS

ROOT = Path(__file__).parents[2]
MODULES = frozenset(
    name
    for extras in (*NEEDS.values(), QUANTISATION)
    for names in extras.values()
    for name in names
)
WHOLE = Machine(MODULES, has_gpu=True, has_slurm=False, torch="2.13.0")
NO_GPU = replace(WHOLE, has_gpu=False)
CLUSTER = replace(NO_GPU, has_slurm=True)
FILES = {
    "config/config.yaml": (
        "run: {name: small, models: [oracle], benchmarks: [rooms], prompts: [mid]}\n"
    ),
    "config/models/oracle.yaml": (
        "adapter: reference\ngeneration: {method: oracle}\ndisplay: {label: Oracle}\n"
    ),
    "config/benchmarks/rooms.yaml": (
        "task: depth\ndataset: {module: scenes}\nn: 2\nprompts: [mid]\n"
        "scorers: {depth: {extractor: depth, measure: depth_fit, metrics: [absrel]}}\n"
        "display: {label: Rooms}\n"
    ),
    "resources/prompts/depth/mid.yaml": (
        "task: depth\nturns:\n  - parts: [{image: input}, {text: Draw the depth.}]\n"
        "    answer_form: {kind: depth, near: bright}\n"
    ),
}
EDITOR = "adapter: diffusers_edit\ngeneration: {pipeline: Flux2Pipeline, model: a/b%s}\n"
COMMAND = (
    "adapter: external_command\ngeneration: {wrapper: some, wrapper_version: 1, environment: own, "
    "repository: a/b, revision: abc}\n"
)
SERVED = (
    "adapter: openai_chat\ngeneration: {service: vllm, model: a/b, weights_revision: abc%s}\n"
    "answers: text\n"
)
STARTED = SERVED % "" + "server: {command: [%s, '{port}']%s}\n"


@pytest.fixture
def checkout(tmp_path):
    write(tmp_path, FILES)
    return tmp_path


@pytest.fixture
def whole(tmp_path, monkeypatch):
    """Return the project of a copy of this checkout, without environments somebody has made."""
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("config", "envs", "resources", "workflow"):
        (tmp_path / name).symlink_to(ROOT / name)
    return load_project(read_yaml(tmp_path / "config/config.yaml"), tmp_path)


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def program(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)


def ready(root, model, machine=WHOLE, config=""):
    """Return how ready a model with this YAML is, and its spec with its site."""
    write(root, {"config/models/it.yaml": f"{model}display: {{label: It}}\n"})
    write(root, {"config/config.yaml": FILES["config/config.yaml"] + config})
    project = load_project(read_yaml(root / "config/config.yaml"), root)
    return readiness("it", project, machine), project


def reason(root, model, machine=WHOLE, config=""):
    """Return the one reason why a model runs nowhere."""
    found, _ = ready(root, model, machine, config)
    (told,) = found.reasons
    assert found.runs == "no"
    return told


def test_a_model_that_lacks_nothing_is_ready(checkout):
    found, project = ready(checkout, EDITOR % "")
    assert (found.runs, found.reasons) == ("here", [])
    assert readiness("oracle", project, Machine((), False, False, None)).runs == "here"


@pytest.mark.parametrize(
    ("date", "runs", "reasons"),
    [
        ("2000-01-31", "no", ["retired on 2000-01-31: only cached answers are used"]),
        ("9999-01-31", "here", []),
    ],
)
def test_a_retired_model_says_since_when(checkout, date, runs, reasons):
    model = "adapter: ark_images\ngeneration: {model: m}\n"
    found, _ = ready(checkout, f"{model}retired: {{date: {date}, source: somebody}}\n")
    assert (found.runs, found.reasons) == (runs, reasons)


def test_what_nothing_helps_is_the_only_reason(checkout, monkeypatch):
    bare = Machine((), has_gpu=False, has_slurm=False, torch=None)
    cited = "adapter: published\nrole: published\n"
    assert reason(checkout, cited, bare) == "published numbers: nothing is run"
    noted = "adapter: external_command\ngeneration: {repository: a/b}\nlimits: {gpu: 1}\n"
    assert reason(checkout, noted, bare).startswith("documented only: it has no wrapper")
    monkeypatch.setattr(models, "available", lambda: ("reference",))
    assert reason(checkout, EDITOR % "", bare) == "this version has no adapter diffusers_edit"


@pytest.mark.parametrize("adapter", sorted(NEEDS))
def test_a_missing_package_is_told_with_its_extra(whole, adapter):
    program(whole.root / ".envs/vllm/bin/vllm")
    name = next(
        name
        for name, spec in whole.models.items()
        if spec.adapter == adapter and readiness(name, whole, WHOLE).runs == "here"
    )
    for extra, modules in NEEDS[adapter].items():
        for module in modules:
            found = readiness(name, whole, replace(WHOLE, modules=MODULES - {module}))
            told = f"no {module}: pip install 'gensight[{extra}]'"
            assert (found.runs, found.reasons) == ("no", [told])


def test_every_adapter_that_needs_packages_is_listed():
    plain = {"reference", "pixelise", "external_command"}
    assert set(NEEDS) == set(models.available()) & set(PROTOCOLS) - plain


def brought_by(extra, extras):
    """Return the distributions that an extra of pyproject.toml brings."""
    found = set()
    for text in extras[extra]:
        wanted = Requirement(text)
        parts = wanted.extras if wanted.name == "gensight" else ()
        found |= {wanted.name}.union(*(brought_by(part, extras) for part in parts))
    return found


def test_extras_bring_the_packages_that_are_listed_under_them():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    # A distribution whose module has another name.
    named = {"open_clip": "open_clip_torch"}
    for needs in (*NEEDS.values(), *ENCODER_NEEDS.values(), QUANTISATION):
        for extra, modules in needs.items():
            distributions = {named.get(m, m.replace(".", "-")) for m in modules}
            assert distributions <= brought_by(extra, extras)


def test_adapters_themselves_name_the_same_extra_where_torch_is_missing():
    code = """
import sys
class Without:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "torch":
            raise ModuleNotFoundError(f"No module named {name}", name=name)
sys.meta_path.insert(0, Without())
from pathlib import Path
from gensight import models
from gensight.cli.readiness import NEEDS, Machine
from gensight.errors import GensightError
from gensight.specs.base import load_spec
from gensight.specs.model import ModelSpec
assert "torch" not in Machine.this().modules
site = models.Site(endpoints={"vllm": "http://127.0.0.1:9/v1"})
for path in sorted(Path("config/models").glob("*.yaml")):
    spec = load_spec(path, model=ModelSpec)
    if "models" in NEEDS.get(spec.adapter, {}):
        try:
            models.load(spec.adapter).open_model(spec.generation, [], site)
        except GensightError as error:
            told = "torch is not installed: pip install 'gensight[models]'" in str(error)
            print(spec.adapter, told)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    told = {tuple(line.split()) for line in done.stdout.splitlines()}
    assert told == {(name, "True") for name, extras in NEEDS.items() if "models" in extras}


def test_a_gpu_that_is_not_seen(checkout):
    asking = EDITOR % "" + "limits: {gpu: 1}\n"
    told = "no GPU seen: on a cluster, --profile slurm"
    assert reason(checkout, asking, NO_GPU) == told
    found, _ = ready(checkout, asking, CLUSTER)
    assert (found.runs, found.reasons) == ("cluster", [told])
    assert ready(checkout, asking, WHOLE)[0].runs == "here"
    assert ready(checkout, EDITOR % "", NO_GPU)[0].runs == "here"


def test_a_cluster_does_not_bring_what_is_missing_beside_a_gpu(checkout):
    machine = replace(CLUSTER, modules=MODULES - {"torch", "diffusers"})
    found, _ = ready(checkout, EDITOR % "" + "limits: {gpu: 1}\n", machine)
    assert found.runs == "no"
    assert found.reasons[0] == "no torch, diffusers: pip install 'gensight[models]'"
    assert len(found.reasons) == 2


def test_nf4_needs_a_gpu_and_bitsandbytes(checkout):
    quantised = EDITOR % ", quantisation: nf4"
    asking = quantised + "limits: {gpu: 1}\n"
    told = "no GPU seen, and NF4 needs one: on a cluster, --profile slurm"
    assert reason(checkout, asking, NO_GPU) == told
    assert ready(checkout, asking, CLUSTER)[0].runs == "cluster"
    # Its jobs would not ask for one.
    assert "limits.gpu: 1 and --profile slurm" in reason(checkout, quantised, CLUSTER)
    machine = replace(WHOLE, modules=MODULES - {"bitsandbytes"})
    assert reason(checkout, asking, machine) == "no bitsandbytes: pip install 'gensight[quant]'"
    assert ready(checkout, EDITOR % "", machine)[0].runs == "here"


def test_a_build_of_torch_without_cuda_beside_a_gpu(checkout):
    machine = replace(WHOLE, torch="2.13.0+cpu")
    assert reason(checkout, EDITOR % "", machine).startswith("torch 2.13.0+cpu uses no GPU")
    assert ready(checkout, EDITOR % "", replace(machine, has_gpu=False))[0].runs == "here"
    assert ready(checkout, "adapter: ark_images\ngeneration: {model: m}\n", machine)[0].runs == (
        "here"
    )


def refusal_of_command(project):
    """Return why the adapter itself does not start an external command."""
    spec = project.models["it"]
    site = Site.of(project.config.model_dump(), project.root, spec.limits)
    settings = {**external_command.DEFAULTS, **spec.generation}
    with pytest.raises(GensightError) as raised:
        external_command.start(settings, site)
    return str(raised.value)


def test_an_external_command_says_what_is_still_to_be_made(checkout):
    told = reason(checkout, COMMAND)
    assert told == "no workflow/wrappers/some.py: write it, or correct generation.wrapper"
    assert "workflow/wrappers/some.py" in refusal_of_command(ready(checkout, COMMAND)[1])

    write(checkout, {"workflow/wrappers/some.py": ""})
    assert reason(checkout, COMMAND) == "no .envs/own/bin/python: make that environment"
    write(checkout, {"envs/own.yaml": ""})
    told = reason(checkout, COMMAND)
    conda = "conda env create -p .envs/own -f envs/own.yaml"
    assert told == f"no .envs/own/bin/python: {conda}"
    assert conda in refusal_of_command(ready(checkout, COMMAND)[1])

    program(checkout / ".envs/own/bin/python")
    told = reason(checkout, COMMAND)
    clone = "git clone https://github.com/a/b .envs/own/repository"
    assert told == f"no .envs/own/repository: {clone}"

    (checkout / ".envs/own/repository").mkdir()
    assert ready(checkout, COMMAND)[0].runs == "here"


def test_an_environment_is_looked_for_where_the_config_says(checkout, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "own"
    write(checkout, {"workflow/wrappers/some.py": "", "envs/own.yaml": ""})
    config = f"environments: {{own: {elsewhere}}}\n"
    told = reason(checkout, COMMAND, config=config)
    conda = f"conda env create -p {elsewhere} -f envs/own.yaml"
    assert told == f"no {elsewhere}/bin/python: {conda}"
    assert f"{elsewhere} has no bin/python" in refusal_of_command(
        ready(checkout, COMMAND, config=config)[1]
    )
    program(elsewhere / "bin/python")
    (elsewhere / "repository").mkdir()
    assert ready(checkout, COMMAND, config=config)[0].runs == "here"


def test_a_command_without_an_environment_runs_in_this_one(checkout):
    write(checkout, {"workflow/wrappers/some.py": ""})
    model = "adapter: external_command\ngeneration: {wrapper: some, wrapper_version: 1}\n"
    assert ready(checkout, model)[0].runs == "here"


def test_a_model_at_a_server_of_ones_own_needs_one(checkout):
    told = reason(checkout, SERVED % "")
    assert told == "no server: give it server:, or name one that runs in endpoints.it"
    here = "'http://127.0.0.1:9/v1'"
    assert ready(checkout, SERVED % f", base_url: {here}")[0].runs == "here"
    for name in ("it", "vllm"):
        config = f"endpoints: {{{name}: {here}}}\n"
        assert ready(checkout, SERVED % "", config=config)[0].runs == "here"


def test_whoever_only_asks_a_server_elsewhere_needs_no_gpu(checkout):
    there, limits = "endpoints: {%s: 'http://127.0.0.1:9/v1'}\n", "limits: {gpu: 2}\n"
    program(checkout / "serves")
    chat = STARTED % ("./serves", "") + limits
    found, project = ready(checkout, chat, NO_GPU)
    assert project.gpus("it") == 2 and "no GPU seen" in found.reasons[0]
    for name in ("it", "vllm"):
        found, project = ready(checkout, chat, NO_GPU, config=there % name)
        assert project.gpus("it") == 0 and found.runs == "here"
    # An agent's own half runs in the job, wherever its server is.
    agent = "adapter: segment_agent\ngeneration: {segmenter: a/b, agent: a/c, max_rounds: 3}\n"
    found, project = ready(checkout, agent + limits, NO_GPU, config=there % "it")
    assert project.gpus("it") == 2 and "no GPU seen" in found.reasons[0]


def refusal_of_server(project):
    """Return why the runner itself does not start a server."""
    spec = project.models["it"]
    site = Site.of(project.config.model_dump(), project.root, spec.limits)
    with (
        pytest.raises(GensightError) as raised,
        running(spec.server, site, project.root / "server.log"),
    ):
        pass
    return str(raised.value)


def test_a_server_says_what_its_environment_lacks(checkout, monkeypatch):
    monkeypatch.setenv("PATH", str(checkout))
    model = STARTED % ("serves", ", environment: own")
    write(checkout, {"envs/own.yaml": ""})
    told = reason(checkout, model)
    conda = "conda env create -p .envs/own -f envs/own.yaml"
    assert told == f"no .envs/own/bin: {conda}, or name endpoints.it"
    assert ".envs/own has no bin/" in refusal_of_server(ready(checkout, model)[1])

    (checkout / ".envs/own/bin").mkdir(parents=True)
    told = reason(checkout, model)
    assert told.startswith("no serves in .envs/own/bin: install it")
    assert "no program serves in the environment own" in refusal_of_server(
        ready(checkout, model)[1]
    )

    program(checkout / ".envs/own/bin/serves")
    assert ready(checkout, model)[0].runs == "here"


def test_a_server_is_looked_for_on_the_path_or_as_a_path(checkout, monkeypatch):
    monkeypatch.setenv("PATH", str(checkout / "bin"))
    model = STARTED % ("serves", "")
    assert reason(checkout, model).startswith("no serves on the PATH: install it")
    assert "no program serves in the PATH" in refusal_of_server(ready(checkout, model)[1])
    program(checkout / "bin/serves")
    assert ready(checkout, model)[0].runs == "here"

    model = STARTED % ("tools/serves", "")
    assert reason(checkout, model).startswith("no tools/serves: install it")
    assert "no program tools/serves" in refusal_of_server(ready(checkout, model)[1])
    program(checkout / "tools/serves")
    assert ready(checkout, model)[0].runs == "here"


def test_an_endpoint_takes_the_place_of_a_server(checkout, monkeypatch):
    monkeypatch.setenv("PATH", str(checkout))
    config = "endpoints: {it: 'http://127.0.0.1:9/v1'}\n"
    assert ready(checkout, STARTED % ("serves", ""), config=config)[0].runs == "here"
    # The GPU is that of the server; an agent loads a segmenter beside it.
    asking = STARTED % ("serves", "") + "limits: {gpu: 1}\n"
    assert ready(checkout, asking, NO_GPU, config)[0].runs == "here"
    agent = (
        "adapter: segment_agent\ngeneration: {segmenter: a/b, agent: c/d}\nlimits: {gpu: 1}\n"
        "server: {command: [serves, '{port}']}\n"
    )
    assert reason(checkout, agent, NO_GPU, config).startswith("no GPU seen")


@pytest.mark.parametrize(
    ("visible", "seen"), [("0", True), ("1,3", True), ("GPU-8f", True), ("", False), ("-1", False)]
)
def test_the_job_says_which_gpus_it_may_see(tmp_path, monkeypatch, visible, seen):
    (tmp_path / "nvidia0").touch()
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert Machine.this(tmp_path).has_gpu is seen


def test_a_gpu_is_seen_by_its_device_or_by_its_program(tmp_path, monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    devices, programs = tmp_path / "dev", tmp_path / "bin"
    devices.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    assert Machine.this(devices).has_gpu is False
    (devices / "nvidiactl").touch()
    assert Machine.this(devices).has_gpu is False
    (devices / "nvidia3").touch()
    assert Machine.this(devices).has_gpu is True
    (devices / "nvidia3").unlink()
    program(programs / "nvidia-smi")
    assert Machine.this(devices).has_gpu is True


def test_slurm_is_here_where_jobs_can_be_submitted(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert Machine.this().has_slurm is False
    program(tmp_path / "sbatch")
    assert Machine.this().has_slurm is True


def test_modules_are_found_and_not_imported(tmp_path, monkeypatch):
    for name in ("found_whole", "found_whole/part"):
        write(tmp_path, {f"{name}/__init__.py": ""})
    write(tmp_path, {"found_broken.py": "raise RuntimeError\n"})
    monkeypatch.syspath_prepend(tmp_path)
    wanted = ("found_whole", "found_whole.part", "found_broken", "found_not", "found_not.part")
    assert [is_importable(name) for name in wanted] == [True, True, True, False, False]
    assert "found_broken" not in sys.modules


def test_of_this_checkout_a_whole_machine_runs_what_needs_nothing_else(whole):
    for name, spec in whole.models.items():
        found = readiness(name, whole, WHOLE)
        lacks = spec.kind in ("external", "served", "published") and name != "example_command"
        if spec.retired is None:
            assert (found.runs == "no") is lacks, (name, found)
        for told in found.reasons:
            assert "\n" not in told and len(told) < 160
