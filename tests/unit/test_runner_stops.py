"""What stops a provider or a model: at once, for this process and for those that follow."""

from dataclasses import replace
from time import time

import pytest
from fakes.billing import Scenario
from fakes.google import GoogleFake
from fakes.serve import FAKES
from runner_rig import MODELS, HurriedClock, Rig, items, outcomes

from gensight.errors import GensightError, ModelGoneError, ParkedError

#: How a quota is told by each provider: the fakes' names of the faults.
QUOTAS = {"google": ["quota_429"], "gpt_image": ["quota_429", "quota_402"], "gpt": ["quota_429"],
          "seedream": ["quota_402"], "claude": ["quota_429", "quota_402", "credit_400"],
          "deepseek": ["quota_402"], "flux": ["quota_402"]}  # fmt: skip
#: Other settings are another model to the runner, and the same provider.
OTHERS = {
    "google": {"model": "gemini-3-pro-image"},
    "gpt_image": {"model": "gpt-image-2"},
    "gpt": {"model": "gpt-6-astra"},
    "seedream": {"model": "doubao-seedream-5-0-260128"},
    "claude": {"model": "claude-opus-5"},
    "deepseek": {"temperature": 0.5},
    "flux": {"model": "flux-2-max"},
}
CASES = [(model, fault) for model, faults in QUOTAS.items() for fault in faults]


def fake_of(model, scenario):
    options = {"pending": 0} if model == "flux" else {}
    return FAKES[MODELS[model][1]](scenario=scenario, **options)


@pytest.mark.parametrize(("model", "fault"), CASES)
def test_a_quota_stops_the_provider_within_one_window(tmp_path, model, fault):
    with fake_of(model, Scenario().on(lambda asked: "thing 1" in asked.text, fault)) as fake:
        rig = Rig(tmp_path, model, fake.url, workers=3)
        # Things 1 and 10 to 19 are refused.
        with pytest.raises(ParkedError, match=f"{rig.provider} takes no requests") as told:
            rig.ask(items(40))
        assert told.value.exit_code == 75
        sent = len(fake.journal.asked)
        first = next(entry.n for entry in fake.journal if entry.fault == fault)
        later = [entry for entry in fake.journal.asked if entry.n > first]
        assert len(later) < 2 * rig.workers, "what was in flight, and what had passed the gate"
        bought = fake.charged
        with pytest.raises(ParkedError, match="nothing is sent until"):
            rig.ask(items(40))
        # Another model of the same provider is stopped as well.
        with pytest.raises(ParkedError):
            replace(rig, generation=OTHERS[model]).ask(items(1, start=30))
        assert len(fake.journal.asked) == sent, "a second desk sends nothing until the time"
        # What was bought meanwhile is kept, and nothing of it is bought again.
        fake.scenario = Scenario()
        later = HurriedClock()
        later.sleep(2 * 86_400)
        assert outcomes(rig.ask(items(40), later)) == {"ok": 40}
        assert fake.journal.paid_twice == {} and fake.charged == 40 and bought <= 5


def test_a_quota_is_told_by_the_exit_code_however_few_questions_there_are(tmp_path):
    with fake_of("claude", Scenario().default("quota_429")) as fake:
        rig = Rig(tmp_path, "claude", fake.url, workers=1)
        with pytest.raises(ParkedError):
            rig.ask(items(1))
        assert len(fake.journal) == 1 and rig.in_doubt() == []


def test_a_pause_that_is_too_long_parks_the_provider_until_then(tmp_path):
    with fake_of("claude", Scenario().default("wait_429", retry_after_s=4000)) as fake:
        rig = Rig(tmp_path, "claude", fake.url, workers=2)
        with pytest.raises(ParkedError):
            rig.ask(items(9))
        assert len(fake.journal) <= 2
        with rig.book() as book:
            (stop,) = book.stops()
        assert (stop.scope, stop.kind) == ("provider", "wait")
        assert 3900 < stop.until - time() < 4001
        before, clock = len(fake.journal), HurriedClock()
        clock.sleep(3800)
        with pytest.raises(ParkedError):
            rig.ask(items(9), clock)
        assert len(fake.journal) == before
        fake.scenario = Scenario()
        clock.sleep(201)
        assert outcomes(rig.ask(items(9), clock)) == {"ok": 9}


def test_a_hint_is_waited_for_even_if_it_is_longer_than_our_own_patience(tmp_path):
    class Watching(HurriedClock):
        waited_s = 0.0

        def sleep(self, seconds):
            self.waited_s += seconds
            super().sleep(seconds)

    clock = Watching()
    with fake_of("claude", Scenario().first("wait_429", retry_after_s=250)) as fake:
        rig = Rig(tmp_path, "claude", fake.url)
        assert outcomes(rig.ask(items(1), clock)) == {"ok": 1}
        assert clock.waited_s >= 249 and len(fake.journal) == 2


def test_a_refused_key_stops_the_run_and_another_one_may_be_given_at_once(tmp_path):
    with fake_of("claude", Scenario().default("auth_401")) as fake:
        rig = Rig(tmp_path, "claude", fake.url, workers=2)
        with pytest.raises(GensightError, match="does not accept the key") as told:
            rig.ask(items(9))
        assert not isinstance(told.value, ParkedError), "waiting does not help"
        assert len(fake.journal) <= 3
        fake.scenario = Scenario()
        assert outcomes(rig.ask(items(9))) == {"ok": 9}


@pytest.mark.parametrize("model", MODELS)
def test_a_model_that_is_gone_stops_alone(tmp_path, model):
    with fake_of(model, Scenario().default("gone_404")) as fake:
        rig = Rig(tmp_path, model, fake.url, workers=2)
        with pytest.raises(ModelGoneError, match=r"gone since 20\d\d-\d\d-\d\d"):
            rig.ask(items(9))
        sent = len(fake.journal)
        assert sent <= 3 and fake.charged == 0
        with pytest.raises(ModelGoneError):
            rig.ask(items(9))
        assert len(fake.journal) == sent


def test_another_model_of_the_provider_is_asked_when_one_is_gone(tmp_path):
    is_old = Scenario().on(lambda asked: asked.model == "claude-opus-4-7", "gone_404")
    with fake_of("claude", is_old) as fake:
        rig = Rig(tmp_path, "claude", fake.url)
        with pytest.raises(ModelGoneError):
            rig.ask(items(1))
        other = replace(rig, generation={"model": "claude-opus-5"})
        assert outcomes(other.ask(items(9))) == {"ok": 9}


def test_a_wrong_request_is_nobody_elses_fault(tmp_path):
    scenario = Scenario().on(lambda asked: asked.text.endswith("thing 3."), "bad_request_400")
    with fake_of("claude", scenario) as fake:
        rig = Rig(tmp_path, "claude", fake.url)
        assert outcomes(rig.ask(items(20))) == {"ok": 19, "bad_request": 1}
        assert len(fake.journal) == 20
        # It is no answer: the next run asks it again.
        fake.scenario = Scenario()
        assert outcomes(rig.ask(items(20))) == {"ok": 20}


def test_wrong_requests_at_the_head_of_a_cell_keep_nobody_from_the_rest(tmp_path):
    wrong = Scenario().on(lambda asked: int(asked.text.split()[-1][:-1]) < 15, "bad_request_400")
    with GoogleFake(scenario=wrong) as fake:
        rig = Rig(tmp_path, "google", fake.url, workers=1)
        # Nothing was ever answered: the config may be wrong, so that it ends soon.
        with pytest.raises(GensightError, match="10 requests in a row got no answer"):
            rig.ask(items(20))
        assert len(fake.journal) == 10
        # What was refused before counts no more, and what is answered shows whose fault it is.
        ends = outcomes(rig.ask(items(20)))
        assert ends == {"bad_request": 15, "ok": 5} and len(fake.journal) == 30
        rig.ask(items(30, start=20))
        assert outcomes(rig.ask([*items(20), *items(3, start=60)])) == {"bad_request": 15, "ok": 8}


def test_many_workers_that_are_stopped_say_so_once(tmp_path):
    with fake_of("claude", Scenario().default("quota_429")) as fake:
        rig = Rig(tmp_path, "claude", fake.url, workers=8)
        with rig.desk() as desk:
            with pytest.raises(ParkedError) as first:
                desk.ask(rig.question("One."))
            first.value.add_note("while answering sample one")
            with pytest.raises(ParkedError) as second:
                desk.ask(rig.question("Two."))
            assert not hasattr(second.value, "__notes__")
        assert len(fake.journal) == 1
