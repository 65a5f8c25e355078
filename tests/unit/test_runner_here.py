"""A model that runs here: what it fails at costs that question; too little memory ends the job."""

import json

import pytest

from gensight import doorway
from gensight.errors import AnswerError, GensightError, ModelMemoryError
from gensight.models import Reply, Turn
from gensight.runner.here import HOPELESS, HereAsker
from gensight.runner.ledger import Ledger
from gensight.runner.questions import Question

FINE = Reply("ok", images=(b"painted",))


class OutOfMemoryError(RuntimeError):
    """Named as torch names its own."""


class Scripted:
    fit_digest = ""

    def __init__(self, *ends):
        self.ends, self.asked = list(ends), 0

    def answer(self, turn):
        self.asked += 1
        end = self.ends.pop(0) if self.ends else FINE
        if isinstance(end, Exception):
            raise end
        return end


def question(key):
    return Question(key, {"n": key}, Turn((), {"kind": "mask"}), "b", "mid", f"sample {key}")


def asker(folder, adapter, **options):
    return HereAsker(Ledger(folder, "m"), lambda: adapter, **options)


@pytest.fixture(autouse=True)
def said(monkeypatch):
    lines = []
    monkeypatch.setattr(doorway, "say", lines.append)
    return lines


def test_one_bad_question_ends_as_an_error_and_is_asked_again_by_the_next_run(tmp_path, said):
    adapter = Scripted(FINE, AnswerError("NaN in a picture of float16"))
    here = asker(tmp_path, adapter)
    entries = [here.ask(question(key))[0] for key in ("aa", "bb", "cc")]
    assert [entry.outcome for entry in entries] == ["ok", "error", "ok"]
    assert entries[1].detail == "NaN in a picture of float16"
    assert said == ["no answer: sample bb: NaN in a picture of float16"]
    again = Scripted()
    later = asker(tmp_path, again)
    assert [later.ask(question(key))[0].outcome for key in ("aa", "bb", "cc")] == ["ok"] * 3
    assert again.asked == 1


def test_an_unexpected_error_is_one_bad_question_with_its_traceback_in_the_log(tmp_path, capfd):
    here = asker(tmp_path, Scripted(ValueError("a side\nis 0")))
    entry, images = here.ask(question("aa"))
    assert (entry.outcome, entry.detail, images) == ("error", "ValueError: a side is 0", [])
    assert "Traceback" in capfd.readouterr().err


@pytest.mark.parametrize("error", [OutOfMemoryError("CUDA out of memory"), MemoryError()])
def test_too_little_memory_ends_the_job_and_says_how_to_get_more(tmp_path, error):
    here = asker(tmp_path, Scripted(FINE, error))
    here.ask(question("aa"))
    with pytest.raises(ModelMemoryError, match=r"limits\.memory_mb"):
        here.ask(question("bb"))
    assert Ledger(tmp_path, "m").find("aa") is not None


def test_too_little_memory_to_load_is_told_like_it(tmp_path):
    def load():
        raise OutOfMemoryError("CUDA out of memory")

    with pytest.raises(ModelMemoryError, match="more memory where the profile has retries"):
        HereAsker(Ledger(tmp_path, "m"), load).ask(question("aa"))


def test_failures_in_a_row_end_the_job_and_others_do_not(tmp_path):
    wrong = ValueError("always")
    scattered = [end for _ in range(HOPELESS) for end in (wrong, FINE)]
    here = asker(tmp_path / "scattered", Scripted(*scattered))
    for number in range(len(scattered)):
        here.ask(question(f"k{number}"))
    here = asker(tmp_path / "in a row", Scripted(*[wrong] * HOPELESS))
    for number in range(HOPELESS - 1):
        here.ask(question(f"k{number}"))
    with pytest.raises(GensightError, match=f"{HOPELESS} questions in a row failed"):
        here.ask(question("last"))


def test_a_model_that_has_answered_may_fail_at_any_number_of_questions(tmp_path, capsys):
    asker(tmp_path, Scripted()).ask(question("answered"))
    here = asker(tmp_path, Scripted(*[AnswerError("NaN")] * 3 * HOPELESS))
    ends = [here.ask(question(f"k{number}"))[0].outcome for number in range(3 * HOPELESS + 1)]
    assert ends == ["error"] * 3 * HOPELESS + ["ok"]
    # Whatever ends a job, its log says what it was at.
    assert "asking sample k0\n" in capsys.readouterr().out


def test_what_is_the_users_to_fix_is_no_bad_question(tmp_path):
    with pytest.raises(GensightError, match="install"):
        asker(tmp_path, Scripted(GensightError("install it"))).ask(question("aa"))


def test_the_place_is_kept_with_the_answer(tmp_path, monkeypatch):
    monkeypatch.setenv("SLURM_JOB_PARTITION", "gpu")
    monkeypatch.setenv("SLURMD_NODENAME", "gpu1")
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    asker(tmp_path, Scripted()).ask(question("aa"))
    place = json.loads(Ledger(tmp_path, "m").find("aa")[0].place)
    assert place.pop("host")
    assert place == {"partition": "gpu", "node": "gpu1", "job": "7", "visible_devices": "1"}
    exact = asker(tmp_path, Scripted(), keeps_place=False)
    assert exact.ask(question("bb"))[0].place is None
