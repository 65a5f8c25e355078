import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli_files import answer, call

from gensight.cli import health, readiness
from gensight.runner.book import Book, Stop, book_path

PROJECT = {
    "Snakefile": "",
    "config/config.yaml": (
        "run: {name: small, models: [oracle], benchmarks: [rooms], prompts: [mid]}\n"
    ),
    "config/models/oracle.yaml": (
        "adapter: reference\ngeneration: {method: oracle}\nrole: ceiling\n"
        "failed_above: null\ndisplay: {label: Oracle}\n"
    ),
    "config/models/paid.yaml": (
        "adapter: ark_images\ngeneration: {model: some-model}\ndisplay: {label: Paid}\n"
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
COMMAND = {
    "config/models/command.yaml": (
        "adapter: external_command\ngeneration: {wrapper: some, wrapper_version: 1}\n"
        "limits: {gpu: 1}\ndisplay: {label: Command}\n"
    ),
    "workflow/wrappers/some.py": "",
}


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    for name in [name for name in os.environ if name.endswith("_API_KEY")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    write(tmp_path, PROJECT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def broken():
    """Return the problems of a checkout in which the demo cannot run."""
    done = call("doctor", "--json")
    found = json.loads(done.stdout)
    assert (done.exit_code, found["ok"]) == (1, False)
    return found["problems"]


def test_a_checkout_in_which_everything_runs(checkout):
    found = answer("doctor")
    assert (found["ok"], found["problems"], found["warnings"]) == (True, [], [])
    assert found["versions"]["python"] == ".".join(map(str, sys.version_info[:3]))
    assert {"snakemake", "numpy", "pyarrow", "gensight"} <= set(found["versions"])
    assert set(found["extras"]) == {
        "torch",
        "diffusers",
        "transformers",
        "bitsandbytes",
        "openai",
        "google-genai",
        "anthropic",
    }
    assert found["free_disk_bytes"] > 0
    assert found["folders"] == {"ledger": True, "results": True, "logs": True}
    assert found["benchmarks"] == {
        "rooms": {"dataset": "scenes", "data_present": True, "missing": None}
    }


def test_models_say_where_they_run_and_what_never_ran(checkout):
    assert answer("doctor")["models"] == {
        "oracle": {
            "adapter": "reference",
            "kind": "reference",
            "adapter_exists": True,
            "runs": "here",
            "reasons": [],
            "note": None,
            "weights": None,
        },
        "paid": {
            "adapter": "ark_images",
            "kind": "hosted",
            "adapter_exists": True,
            "runs": "no",
            "reasons": ["no key: export ARK_API_KEY, or name a keys_file in the config"],
            "note": "never run here",
            "weights": None,
        },
    }


def test_a_key_makes_a_hosted_model_ready(checkout, monkeypatch):
    monkeypatch.setenv("ARK_API_KEY", "very-secret-key-of-ark")
    assert answer("doctor")["models"]["paid"]["runs"] == "here"


def test_a_file_of_keys_that_cannot_be_used_is_the_reason(checkout):
    config = PROJECT["config/config.yaml"] + "keys_file: keys\n"
    write(checkout, {"config/config.yaml": config, "keys": "ARK_API_KEY=very-secret\n"})
    (checkout / "keys").chmod(0o644)
    (reason,) = answer("doctor")["models"]["paid"]["reasons"]
    assert "others may read it" in reason and "very-secret" not in reason
    (checkout / "keys").chmod(0o600)
    assert answer("doctor")["models"]["paid"]["runs"] == "here"


def test_a_model_of_the_run_that_cannot_run_is_a_warning_and_a_cluster_is_none(
    checkout, monkeypatch, tmp_path_factory
):
    programs = tmp_path_factory.mktemp("programs")
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    config = PROJECT["config/config.yaml"].replace("[oracle]", "[oracle, command]")
    write(checkout, {"config/config.yaml": config, **COMMAND})
    found = answer("doctor")
    reason = "no GPU seen: on a cluster, --profile slurm"
    assert found["machine"] == {"gpu": False, "slurm": False}
    assert found["warnings"] == [
        f"config/config.yaml: run.models: 'command' cannot run here: {reason}"
    ]
    program = programs / "sbatch"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    found = answer("doctor")
    assert found["machine"] == {"gpu": False, "slurm": True}
    assert (found["models"]["command"]["runs"], found["warnings"]) == ("cluster", [])
    assert found["models"]["command"]["reasons"] == [reason]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    assert answer("doctor")["models"]["command"]["runs"] == "here"


def test_providers_say_whether_there_is_a_key_and_what_parks_them(checkout, monkeypatch):
    monkeypatch.delenv("ARK_API_KEY", raising=False)
    assert answer("doctor")["providers"] == {"ark": {"key": "no key", "parked": []}}
    book = Book(book_path(Path("ledger"), "ark"))
    book.stop(Stop("provider", "quota", "no_money", since=0.0))
    book.close()
    monkeypatch.setenv("ARK_API_KEY", "very-secret-key-of-ark")
    found = answer("doctor")["providers"]["ark"]
    assert found["key"] == "key here"
    assert found["parked"][0].startswith("ark takes no requests until it is lifted")
    assert "very-secret" not in call("doctor").output


def test_a_model_of_the_run_without_an_adapter_is_a_problem(checkout, monkeypatch):
    monkeypatch.setattr(health.models, "available", lambda: ("reference",))
    answer("doctor")
    config = PROJECT["config/config.yaml"].replace("[oracle]", "[oracle, paid]")
    write(checkout, {"config/config.yaml": config})
    (problem,) = broken()
    assert "'paid' needs the adapter 'ark_images'" in problem


def test_the_run_of_another_config_is_examined(checkout, monkeypatch):
    monkeypatch.delenv("ARK_API_KEY", raising=False)
    printed = "adapter: published\npublished: {probegen: Other}\ndisplay: {label: Other}\n"
    write(checkout, {"config/models/other.yaml": printed})
    write(checkout, {"large.yaml": "run: {name: large, models: [oracle, paid, other]}\n"})
    found = answer("doctor", "--configfile", "large.yaml")
    (warning,) = found["warnings"]
    assert warning.startswith("large.yaml: run.models: 'paid' cannot run here: no key: export")
    lines = call("doctor", "--configfile", "large.yaml").stdout.splitlines()
    assert lines[-1] == "ready for the run 'large'"
    write(checkout, {"site.yaml": "endpoints: {ark: 'http://127.0.0.1:9/'}\n"})
    both = answer("doctor", "--configfile", "large.yaml", "--configfile", "site.yaml")
    assert both["warnings"] == found["warnings"], "the file that lists the models is named"
    write(checkout, {"large.yaml": "run: {name: large, benchmarks: [roms]}\n"})
    done = call("doctor", "--configfile", "large.yaml")
    assert done.exit_code == 1 and done.stdout.splitlines()[-1] == "not ready for this run"
    assert "roms" in done.stdout
    write(checkout, {"large.yaml": "run: papers\n"})
    done = call("doctor", "--configfile", "large.yaml")
    assert done.exit_code == 1 and "key 'run'" in done.stdout and done.exception.code == 1
    missing = call("doctor", "--configfile", "none.yaml")
    assert missing.exit_code == 1 and "Traceback" not in missing.output


def test_missing_data_are_a_problem_only_for_the_run(checkout, monkeypatch):
    scenes = importlib.import_module("gensight.datasets.scenes")
    monkeypatch.setattr(scenes, "missing_data", lambda parameters: "get it", raising=False)
    assert broken() == ["rooms: get it"]


def test_exported_keys_are_named_and_never_shown(checkout, monkeypatch):
    monkeypatch.setenv("SOME_VENDOR_API_KEY", "sk-very-secret")
    done = call("doctor", "--json")
    found = json.loads(done.stdout)
    assert (done.exit_code, found["api_keys"]) == (0, ["SOME_VENDOR_API_KEY"])
    assert ["SOME_VENDOR_API_KEY" in warning for warning in found["warnings"]] == [True]
    assert "sk-very-secret" not in done.output + call("doctor").output


@pytest.mark.parametrize(
    ("file", "content", "reason"),
    [
        ("config/models/oracle.yaml", "adapter: referense\ndisplay: {label: O}\n", "'reference'"),
        ("config/config.yaml", "run: {nam: small}\n", "config/config.yaml"),
    ],
)
def test_a_wrong_spec_is_a_problem(checkout, file, content, reason):
    write(checkout, {file: content})
    (problem,) = broken()
    assert problem.startswith(file)
    assert reason in problem
    assert str(checkout) not in problem


def test_a_file_in_the_place_of_the_ledger_is_a_problem(checkout):
    (checkout / "ledger").write_text("")
    (problem,) = broken()
    assert problem.startswith("config/config.yaml: ledger: ledger is a file")


@pytest.mark.parametrize(("free", "problems", "warnings"), [(10**7, 1, 0), (5 * 10**8, 0, 1)])
def test_little_disk(checkout, monkeypatch, free, problems, warnings):
    usage = health.shutil.disk_usage(checkout)._replace(free=free)
    monkeypatch.setattr(health.shutil, "disk_usage", lambda path: usage)
    found = json.loads(call("doctor", "--json").stdout)
    assert (len(found["problems"]), len(found["warnings"])) == (problems, warnings)


@pytest.mark.parametrize(
    ("requirement", "problems"),
    [
        ("numpy>=2", 0),
        ("numpy<2", 1),
        ("no-such-distribution>=1", 1),
        ("no-such-distribution; extra == 'dev'", 0),
    ],
)
def test_requirements_are_checked(checkout, monkeypatch, requirement, problems):
    monkeypatch.setattr(health.metadata, "requires", lambda name: [requirement])
    found = json.loads(call("doctor", "--json").stdout)
    assert len(found["problems"]) == problems


def test_outside_a_checkout_only_the_installation_is_examined(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = answer("doctor")
    assert "models" not in found
    assert any("no Snakefile here" in warning for warning in found["warnings"])


def test_people_read_sections(checkout):
    lines = call("doctor").stdout.splitlines()
    for title in ("versions", "optional", "machine", "models", "benchmarks", "folders", "disk"):
        assert title in lines
    (paid,) = [line for line in lines if line.startswith("  paid ")]
    assert paid.split()[1:5] == ["hosted", "ark_images", "not", "here"]
    assert "no key: export ARK_API_KEY" in paid and paid.endswith("(never run here)")
    (oracle,) = [line for line in lines if line.startswith("  oracle ")]
    assert oracle.split() == ["oracle", "reference", "reference", "ready"]
    assert lines[-1] == "ready for the demo"


def test_neither_an_adapter_nor_an_optional_library_is_imported(checkout):
    write(checkout, COMMAND)
    code = (
        "import sys; from click.testing import CliRunner; from gensight.cli import main;"
        "assert CliRunner().invoke(main, ['doctor']).exit_code == 0;"
        "heavy = {'torch', 'openai', 'anthropic', 'diffusers', 'transformers', 'bitsandbytes',"
        " 'snakemake', 'gensight.models.external_command', 'gensight.models.ark_images'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=checkout
    )
    assert done.stdout == "[]\n"


def test_encoders_say_what_they_lack(checkout, monkeypatch):
    spec = "module: {}\nstand_in: {}\ndisplay: {{label: E}}\n"
    encoders = {"plain": spec.format("descriptor", "true"), "named": spec.format("dinov2", "false")}
    encoders["named"] += "settings: {model: someone/weights}\n"
    write(checkout, {f"config/encoders/{name}.yaml": text for name, text in encoders.items()})
    monkeypatch.setattr(readiness, "is_importable", lambda module: module != "transformers")
    found = answer("doctor")["encoders"]
    assert found["plain"]["reasons"] == [] and "stands in" in found["plain"]["note"]
    assert found["named"]["reasons"] == ["no transformers: pip install 'gensight[models]'"]
    assert (
        found["named"]["weights"] == "weights someone/weights to be downloaded at the first start"
    )
    (line,) = [x for x in call("doctor").stdout.splitlines() if x.startswith("  named ")]
    assert line.endswith(
        "(never run here; weights someone/weights to be downloaded at the first start)"
    )
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    lacks = answer("doctor")["encoders"]["named"]["reasons"]
    assert lacks[1] == "no weights someone/weights here, and HF_HUB_OFFLINE is set"
    assert "cannot embed here" not in " ".join(answer("doctor")["warnings"])
