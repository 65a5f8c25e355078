"""What the wrappers refuse: weights that do not fit, numbers that are none, number types."""

import json
import sys
from contextlib import closing

import pytest
from external_environments import environments, opener
from external_rig import ROOT, generation_of, opened, picture, turn, write_wrapper

from gensight.conformance import text_for
from gensight.errors import AnswerError, GensightError
from gensight.models.external_command import WRAPPERS
from gensight.specs.base import load_spec
from gensight.specs.model import ModelSpec

BROKEN = "made NaN or infinite numbers in float"
WATCHED = {
    "bagel": "the decoder of the VAE",
    "countgd_pp": r"CountGD\+\+",
    "emu3_5": "the decoder of picture tokens",
    "lotus_2": "the decoder of the VAE",
    "nextstep_1": "the decoder of the VAE",
    "omnigen2": "the decoder of the VAE",
    "qwen3_vl_8b_samtok": "the mask decoder",
}
FLUX = ("lotus_2", "omnigen2")
TOLD_BY_TRANSFORMERS = (*FLUX, "emu3_5", "nextstep_1", "qwen3_vl_8b_samtok")
ADAPTER = "transformer.blocks.0.to_k.lora_A.weight transformer.blocks.0.to_k.lora.up.weight"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return environments(tmp_path_factory.mktemp("environments"))


@pytest.fixture
def started(made, tmp_path, monkeypatch):
    return opener(made, tmp_path, monkeypatch)


def asked(name, query):
    spec = load_spec(ROOT / f"config/models/{name}.yaml", ModelSpec)
    return text_for(spec, ROOT).replace("cup", query)


@pytest.mark.parametrize("name", WATCHED)
def test_nan_costs_one_answer_and_never_becomes_a_picture(started, name):
    # The stand-ins make NaN where the prompt says so; that of Lotus-2, infinity of a picture.
    sent = picture(13 if name == "lotus_2" else 64, 48)
    with started(name) as model:
        with pytest.raises(AnswerError, match=f"{WATCHED[name]} {BROKEN}"):
            model.answer(turn(sent, asked(name, "NaN")))
        assert model.answer(turn(picture(64, 48), asked(name, "cup"))).outcome == "ok"
        assert model.restarts == 0


@pytest.mark.parametrize("name", TOLD_BY_TRANSFORMERS)
def test_what_a_loader_would_not_even_log_is_refused(started, monkeypatch, name):
    monkeypatch.setenv("STUB_LACKS", "head.weight")
    told = r"do not fit the model: the checkpoint of \w+ lacks 1 tensors: head\.weight"
    with pytest.raises(GensightError, match=told):
        started(name)
    with started(name, accepted_warnings=["head."]):
        pass


@pytest.mark.parametrize("name", FLUX)
def test_so_is_what_a_loader_of_diffusers_tells(started, monkeypatch, name):
    monkeypatch.setenv("STUB_LACKS", "flux.norm")
    with pytest.raises(GensightError, match=r"lacks 1 tensors: flux\.norm"):
        started(name)


@pytest.mark.parametrize("file", ["core_depth.safetensors", "detail_depth.safetensors"])
@pytest.mark.parametrize(
    ("tensors", "told"),
    [
        (ADAPTER.split()[0], r"lacks 1 tensors: blocks\.0\.to_k\.lora_B\.weight"),
        (ADAPTER.replace("transformer.", ""), r"has unknown 2 tensors: blocks\.0"),
        (
            f"{ADAPTER} transformer.tail.lora_A.weight",
            r"has unknown 1 tensors: tail\.lora_A\.weight",
        ),
        (f"{ADAPTER} text_encoder.lora_A.weight", r"has unknown 1 tensors: text_encoder\.lora_A"),
    ],
    ids=["missing", "without_prefix", "unexpected", "of_another_part"],
)
def test_an_adapter_of_lotus_that_does_not_fit_is_refused(started, file, tensors, told):
    with pytest.raises(GensightError, match=f"{file} {told}"):
        started("lotus_2", {("jingheya/Lotus-2", file): tensors})


@pytest.mark.parametrize("file", ["ae.safetensors", "ema.safetensors"])
def test_weights_of_bagel_that_lack_a_tensor_are_refused(started, file):
    lacking = {("ByteDance-Seed/BAGEL-7B-MoT", file): "decoder" if file[0] == "a" else "llm"}
    with pytest.raises(GensightError, match=rf"{file} lacks 1 tensors: (encoder|vit)"):
        started("bagel", lacking)


def test_a_coder_of_nextstep_that_does_not_fit_is_refused(started):
    weights = ("stepfun-ai/NextStep-1-f8ch16-Tokenizer", "checkpoint.pt")
    with pytest.raises(GensightError, match=r"checkpoint.pt lacks 1 tensors: decoder"):
        started("nextstep_1", {weights: "encoder"})
    other = {weights: "encoder decoder discriminator"}
    with pytest.raises(GensightError, match=r"has unknown 1 tensors: discriminator"):
        started("nextstep_1", other)
    with started("nextstep_1", other, accepted_warnings=["discriminator"]) as model:
        assert model.ready


@pytest.mark.parametrize(("name", "short"), [("lotus_2", "float16"), ("omnigen2", "fp16")])
def test_float16_is_refused_where_a_model_is_marked(started, name, short):
    assert generation_of(name)["settings"]["bf16_only"] is True
    with pytest.raises(GensightError, match=r"dtype: float16 overflows .* take bfloat16") as failed:
        started(name, assumed_dtype=short)
    assert "\n" not in str(failed.value).strip()
    with pytest.raises(GensightError, match="dtype: int8 is none of bfloat16, float16, float32"):
        started(name, assumed_dtype="int8")


def test_a_model_that_is_not_marked_may_run_in_float16(started):
    with started("lotus_2", bf16_only=False, assumed_dtype="float16") as model:
        assert json.loads(model.answer(turn(picture(), "-")).setup)["dtype"] == "float16"


@pytest.fixture
def protocol(monkeypatch):
    """Return the module that wrappers share."""
    monkeypatch.syspath_prepend(str(ROOT / WRAPPERS))
    monkeypatch.delitem(sys.modules, "protocol", raising=False)
    import protocol

    yield protocol
    sys.modules.pop("protocol", None)


class _Tensor:
    def __init__(self, *numbers):
        self.numbers, self.dtype = numbers, "torch.bfloat16"

    def isfinite(self):
        return _Tensor(*(number - number == 0 for number in self.numbers))

    def all(self):
        return all(self.numbers)


class _Output:
    def __init__(self, sample):
        self.sample = sample


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("wrapped", [lambda t: t, lambda t: (t, None), lambda t: (_Output([t]),)])
def test_numbers_are_found_in_what_decoders_return(protocol, wrapped, number):
    protocol.check_finite("it", wrapped(_Tensor(0.0, 1.0)))
    with pytest.raises(FloatingPointError, match="it made NaN or infinite numbers in bfloat16"):
        protocol.check_finite("it", wrapped(_Tensor(0.0, number)))


def test_what_a_repository_swallows_is_an_error_all_the_same(tmp_path):
    class_of_tensor = """
        class Broken:
            dtype = "torch.float16"
            def isfinite(self): return self
            def all(self): return False
        def decode():
            try:
                protocol.check_finite("the decoder", Broken())
            except Exception:
                return None
        self.decode = decode
    """
    answer = """
        if "NaN" in protocol.text_of(turn):
            self.decode()
        return {"outcome": "no_image"}
    """
    write_wrapper(tmp_path, answer, load=class_of_tensor)
    with closing(opened(tmp_path)) as model:
        with pytest.raises(AnswerError, match="the decoder made NaN or infinite numbers"):
            model.answer(turn("NaN"))
        assert model.answer(turn("another")).outcome == "no_image"


def test_loaders_are_as_they_were_after_strict_loading(protocol, monkeypatch):
    class Loader:
        @classmethod
        def from_pretrained(cls, name, output_loading_info=False, **options):
            model = (cls, name, options)
            info = {"missing_keys": None, "mismatched_keys": [("a", 1, 2)] if name == "bad" else []}
            return (model, info) if output_loading_info else model

    class Own(Loader):
        @classmethod
        def from_pretrained(cls, name, **options):
            return super().from_pretrained(name, dtype="x", **options)

    library = type(sys)("transformers")
    library.PreTrainedModel = Loader
    monkeypatch.setitem(sys.modules, "transformers", library)
    before = Loader.__dict__["from_pretrained"]
    with protocol.strict_loading():
        assert Own.from_pretrained("good") == (Own, "good", {"dtype": "x"})
        assert Loader.from_pretrained("good", output_loading_info=True)[1]["mismatched_keys"] == []
    with (
        pytest.raises(ValueError, match="of Own has, of another shape, 1 tensors: a"),
        protocol.strict_loading(),
    ):
        Own.from_pretrained("bad")
    assert Loader.__dict__["from_pretrained"] is before
