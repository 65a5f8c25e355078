"""Editors of diffusers on tiny copies: calls, sizes, equal bytes, and what cannot be answered."""

import json
import shutil
from functools import wraps

import numpy as np
import pytest
from whole_cells import SIZES, WholeCell, picture, turn

from gensight.errors import AnswerError, SpecError
from gensight.images import decode_rgb, fit_long_side, inspect
from gensight.models import Part, Site, Turn, diffusers_edit
from gensight.models._editors import PIPELINES

FOLDERS = {
    "Flux2KleinPipeline": "flux2_klein",
    "Flux2Pipeline": "flux2",
    "GlmImagePipeline": "glm_image",
    "OmniGenPipeline": "omnigen",
    "QwenImageEditPlusPipeline": "qwen_edit_plus",
}
#: What keeps an answer short; Qwen's schedule divides by zero with a single step. A letter is a
#: token here, and FLUX.2 has a system message before the prompt's first word.
SHORT = {
    "Flux2KleinPipeline": {"num_inference_steps": 1, "max_sequence_length": 64},
    "Flux2Pipeline": {"num_inference_steps": 1, "max_sequence_length": 320},
    "GlmImagePipeline": {"num_inference_steps": 1},
    "OmniGenPipeline": {"num_inference_steps": 1},
    "QwenImageEditPlusPipeline": {
        "num_inference_steps": 2,
        "negative_prompt": " ",
        "true_cfg_scale": 4.0,
    },
}
BLACK, WHITE = (0, 0, 0), (255, 255, 255)


@pytest.fixture(autouse=True)
def _small_views(monkeypatch):
    """Qwen's editor shows its parts the picture at a megapixel, which is slow, not different."""
    from diffusers.pipelines.qwenimage import pipeline_qwenimage_edit_plus as module

    monkeypatch.setattr(module, "VAE_IMAGE_SIZE", 128 * 128)
    monkeypatch.setattr(module, "CONDITION_IMAGE_SIZE", 128 * 128)


@pytest.fixture
def opened(tiny):
    """Return a function that opens a pipeline's tiny copy, whose answers are short."""

    def _open(pipeline, **settings):
        return diffusers_edit.open_model({**block_of(tiny, pipeline), **settings}, [], Site())

    return _open


@pytest.fixture
def recorded(monkeypatch):
    """Return a function that lets an opened model's calls pass, and keeps their arguments."""

    def _record(adapter):
        calls, kind = [], type(adapter.loaded.pipeline)
        call = kind.__call__

        @wraps(call)
        def _kept(pipeline, **arguments):
            calls.append(arguments)
            return call(pipeline, **arguments)

        monkeypatch.setattr(kind, "__call__", _kept)
        return calls

    return _record


def block_of(tiny, pipeline):
    folder = str(tiny[FOLDERS[pipeline]])
    return {"pipeline": pipeline, "model": folder, **SHORT[pipeline]}


def setup_of(reply):
    return json.loads(reply.setup)


def test_all_pipelines_have_a_copy_and_a_choice():
    choices = diffusers_edit.CHOICES["pipeline"]
    assert sorted(FOLDERS) == sorted(PIPELINES) == [name for name in choices if name]


@pytest.mark.parametrize("pipeline", sorted(FOLDERS))
def test_a_picture_comes_back_at_the_size_that_was_asked_for(opened, recorded, pipeline):
    adapter = opened(pipeline)
    calls = recorded(adapter)
    reply = adapter.answer(turn(picture(200, 150), "Paint it."))
    used = PIPELINES[pipeline].sides.like(200, 150)
    assert (calls[0]["width"], calls[0]["height"]) == used
    assert setup_of(reply)["sizes"] == {
        "sent": [200, 150],
        "used": list(used),
        "returned": list(used),
    }
    info = inspect(reply.images[0])
    assert (info.kind, info.bit_depth, info.upright_size) == ("png", 8, used)
    assert decode_rgb(reply.images[0], matte=BLACK).std() > 0
    assert reply.outcome == "ok" and reply.device == "cpu" and reply.peak_memory_gb is None
    assert reply.usage is None and adapter.fit_digest == ""


@pytest.mark.parametrize("pipeline", sorted(FOLDERS))
def test_other_words_are_another_picture(opened, pipeline):
    adapter, shown = opened(pipeline), picture(64, 64)
    words = ['Paint "it" red.', 'Paint "all" of it blue.']
    assert len({adapter.answer(turn(shown, text)).images for text in words}) == 2


@pytest.fixture
def read():
    """Return a function that keeps how many tokens a loaded text encoder is given at each call."""

    def _watch(adapter):
        given = []

        def _count(module, positional, named):
            given.append(int(named["attention_mask"].sum()))

        adapter.loaded.pipeline.text_encoder.register_forward_pre_hook(_count, with_kwargs=True)
        return given

    return _watch


@pytest.mark.parametrize("pipeline", ["Flux2Pipeline", "Flux2KleinPipeline"])
def test_words_beyond_the_limit_are_told(opened, read, pipeline):
    limit = SHORT[pipeline]["max_sequence_length"]
    adapter, shown = opened(pipeline), picture(64, 64)
    given = read(adapter)
    long = "Paint it all over. " * 30
    replies = [adapter.answer(turn(shown, text)) for text in ("Red.", f"{long}Red", f"{long}Blue.")]
    short, cut, other = (setup_of(reply)["prompt"] for reply in replies)
    assert given == [short["read"], limit, limit]
    assert short["tokens"] == short["read"] < limit
    assert cut == {"tokens": short["tokens"] + len(long) - 1, "read": limit}
    assert other["tokens"] == cut["tokens"] + 2
    # The end of the text is what is lost.
    assert replies[1].images == replies[2].images


def test_without_a_limit_the_pipelines_own_is_told(opened):
    reply = opened("Flux2KleinPipeline", max_sequence_length=None).answer(
        turn(picture(64, 64), "Paint it. " * 60)
    )
    told = setup_of(reply)["prompt"]
    assert told["read"] == 512 < 600 < told["tokens"]


def test_glm_reads_each_of_several_pictures_as_it_is(opened):
    """Whatever their sizes: as when it is shown alone."""
    adapter, read = opened("GlmImagePipeline"), []
    encoder = adapter.loaded.pipeline.vision_language_encoder
    tokens_of = encoder.get_image_tokens

    def watched(*given):
        read.append(tokens_of(*given))
        return read[-1]

    encoder.get_image_tokens = watched
    one, other = picture(200, 100), picture(64, 64, seed=1)
    shown = ([one], [other], [one, other], [other, one])
    replies = [
        adapter.answer(Turn((*(Part("image", image=p) for p in some), Part("text", text="Paint.")),
                            {"kind": "image"}, seed=5))
        for some in shown
    ]  # fmt: skip
    first, second, both, turned = (tokens.tolist() for tokens in read)
    assert len(first) != len(second) and both == first + second and turned == second + first
    assert len({reply.images for reply in replies}) == 4


def test_glm_tells_what_it_cuts_of_quoted_texts(opened):
    """The rest of the text goes to the part that writes, which cuts nothing."""
    adapter, shown = opened("GlmImagePipeline", max_sequence_length=8), picture(64, 64)
    told = [
        setup_of(adapter.answer(turn(shown, text)))["quoted"]
        for text in ("Write nothing here at all.", 'Write "four" and "fourteen of them".')
    ]
    # Letters, and one end for each text.
    assert told == [{"tokens": 0, "read": 0}, {"tokens": 5 + 17, "read": 5 + 8}]


@pytest.mark.parametrize("pipeline", ["OmniGenPipeline", "QwenImageEditPlusPipeline"])
def test_long_texts_are_read_to_their_end_where_nothing_is_told(opened, pipeline):
    adapter, shown, long = opened(pipeline), picture(64, 64), "Paint it all over. " * 120
    replies = [adapter.answer(turn(shown, long + end)) for end in ("Red", "Blue")]
    assert replies[0].images != replies[1].images
    assert not {"prompt", "quoted"} & set(setup_of(replies[0]))


def test_the_setup_says_how_it_was_made_and_not_where(opened, tiny):
    reply = opened("Flux2Pipeline", assumed_revision="main").answer(turn(picture(64, 64)))
    told = setup_of(reply)
    assert sorted(told) == [
        "batch_size",
        "dtype",
        "libraries",
        "offload",
        "prompt",
        "quantisation",
        "revision",
        "seed",
        "sizes",
        "weights",
    ]
    assert (told["weights"], told["dtype"], told["seed"]) == ("flux2", "float32", 5)
    assert (told["batch_size"], told["offload"], told["quantisation"]) == (1, None, None)
    assert sorted(told["libraries"]) == ["accelerate", "diffusers", "torch", "transformers"]
    assert all(told["libraries"].values())
    assert str(tiny["flux2"].parent) not in reply.setup


def test_flux2_is_shown_the_whole_picture(opened, recorded):
    """Its own handling would cut 250x190 to 240x176 around the centre, and lose the edges."""
    adapter = opened("Flux2Pipeline")
    calls = recorded(adapter)
    adapter.answer(turn(picture(250, 190)))
    shown = calls[0]["image"][0]
    assert shown.size == (256, 192)
    pipeline = adapter.loaded.pipeline
    kept = pipeline.image_processor.preprocess(shown, height=192, width=256, resize_mode="crop")
    assert np.array_equal(
        np.rint((kept[0].permute(1, 2, 0).numpy() + 1) * 127.5).astype(np.uint8), np.asarray(shown)
    )


def test_omnigen_names_its_picture_in_the_text(opened, recorded):
    adapter = opened("OmniGenPipeline")
    calls = recorded(adapter)
    adapter.answer(turn(picture(64, 64), "Paint it."))
    assert calls[0]["prompt"] == "<img><|image_1|></img> Paint it."


def test_guidance_acts_only_with_a_negative_prompt(opened):
    """Told by the pictures: guided and unguided differ, and so do two scales."""
    shown = turn(picture(64, 64))
    by_scale = [
        opened("QwenImageEditPlusPipeline", true_cfg_scale=scale).answer(shown).images
        for scale in (2.0, 6.0)
    ]
    plain = opened("QwenImageEditPlusPipeline", true_cfg_scale=1.0, negative_prompt=None)
    assert len({*by_scale, plain.answer(shown).images}) == 3


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"true_cfg_scale": 4.0, "negative_prompt": None}, "only with a negative prompt"),
        ({"true_cfg_scale": None, "negative_prompt": None}, "only with a negative prompt"),
        ({"true_cfg_scale": 1.0}, "uses it only with a true_cfg_scale above 1"),
        ({"guidance_scale": 9.0}, "guidance_scale: the transformer of qwen_edit_plus has no input"),
        ({"max_sequence_length": 64}, "max_sequence_length: QwenImageEditPlusPipeline does not"),
        ({"img_guidance_scale": 2.0}, "img_guidance_scale: QwenImageEditPlusPipeline does not"),
        ({"num_steps": 3}, "num_steps"),
        ({"assumed_num_inference_steps": 3}, "assumed_num_inference_steps is given too"),
    ],
)
def test_settings_that_would_not_act_are_refused(opened, settings, words):
    with pytest.raises(SpecError, match=words):
        opened("QwenImageEditPlusPipeline", **settings)


def test_a_distilled_model_is_not_guided(opened):
    with pytest.raises(SpecError, match="is distilled and ignores it"):
        opened("Flux2KleinPipeline", guidance_scale=4.0)
    opened("Flux2KleinPipeline", guidance_scale=1.0)


@pytest.mark.parametrize("pipeline", ["Flux2Pipeline", "QwenImageEditPlusPipeline"])
def test_guidance_is_told_where_the_transformer_takes_it(tiny, tmp_path, pipeline):
    """By what the folder's config says: it is refused if it does nothing, and if it is missing."""
    has_default = pipeline == "Flux2Pipeline"
    copy = tmp_path / "copy"
    shutil.copytree(tiny[FOLDERS[pipeline]], copy)
    block = {**block_of(tiny, pipeline), "model": str(copy)}
    for embeds in (True, False):
        rebuilt(copy / "transformer", guidance_embeds=embeds)
        given = {**block, "guidance_scale": 3.0}
        if embeds:
            diffusers_edit.open_model(given, [], Site())
        else:
            with pytest.raises(SpecError, match="guidance_scale: the transformer of copy has no"):
                diffusers_edit.open_model(given, [], Site())
        if embeds and not has_default:
            with pytest.raises(SpecError, match="guidance_scale: the transformer of copy needs"):
                diffusers_edit.open_model(block, [], Site())
        else:
            diffusers_edit.open_model(block, [], Site())


def rebuilt(folder, **config):
    """Replace a stored transformer by one of another config, with new weights."""
    import diffusers

    told = json.loads((folder / "config.json").read_text())
    kind = getattr(diffusers, told["_class_name"])
    shutil.rmtree(folder)
    kind.from_config({**told, **config}).save_pretrained(folder)


@pytest.mark.parametrize(
    "pipeline", [name for name, one in PIPELINES.items() if one.draws_globally]
)
def test_no_noise_is_drawn_past_the_generator_of_the_answer(opened, monkeypatch, pipeline):
    """Whatever torch's own generator is seeded with: the same bytes."""
    import torch

    adapter, shown, seeded = opened(pipeline), turn(picture(96, 64), seed=7), torch.manual_seed
    made = []
    for other in (1, 2):
        monkeypatch.setattr(torch, "manual_seed", lambda _seed, other=other: seeded(other))
        made.append(adapter.answer(shown).images)
    assert made[0] == made[1]


def test_a_turn_without_a_picture_is_told(opened):
    with pytest.raises(SpecError, match="the prompt shows no picture"):
        opened("Flux2Pipeline").answer(turn(None))


def test_a_turn_of_two_pictures_follows_the_first(opened, recorded):
    adapter = opened("Flux2Pipeline")
    calls = recorded(adapter)
    parts = (
        Part("image", image=picture(128, 64)),
        Part("text", text="Redraw"),
        Part("image", image=picture(64, 96, seed=3)),
        Part("text", text="like this."),
    )
    adapter.answer(Turn(parts, {"kind": "mask"}, seed=1))
    assert [shown.size for shown in calls[0]["image"]] == [(128, 64), (64, 96)]
    assert (calls[0]["width"], calls[0]["height"]) == (128, 64)
    assert calls[0]["prompt"] == "Redraw\n\nlike this."


@pytest.mark.parametrize("pipeline", sorted(FOLDERS))
def test_an_answer_depends_on_its_seed_and_not_on_its_place(opened, pipeline):
    import torch

    adapter = opened(pipeline)
    shown = picture(96, 64)
    first = adapter.answer(turn(shown, seed=7)).images
    torch.manual_seed(99)
    assert adapter.answer(turn(shown, seed=8)).images != first
    assert adapter.answer(turn(shown, seed=7)).images == first


def spoilt(adapter, value):
    """Set the last bias of the decoder of a loaded pipeline, so that all it paints is that."""
    import torch

    last = adapter.loaded.pipeline.vae.decoder.conv_out
    with torch.no_grad():
        last.weight.zero_()
        last.bias.fill_(value)


@pytest.mark.parametrize("value", ["nan", "inf"])
@pytest.mark.parametrize("pipeline", sorted(FOLDERS))
def test_what_is_no_number_is_an_error_that_names_the_number_type(opened, pipeline, value):
    """All of these clamp infinity to white or black, and some in the coder itself."""
    adapter, shown = opened(pipeline, dtype="bfloat16"), turn(picture(64, 64))
    spoilt(adapter, float(value))
    width, height = PIPELINES[pipeline].sides.like(64, 64)
    numbers = 3 * width * height
    with pytest.raises(AnswerError, match=rf"{numbers} of {numbers} numbers NaN .* in bfloat16"):
        adapter.answer(shown)
    # The same model can answer the next question.
    spoilt(adapter, 0.5)
    assert adapter.answer(shown).outcome == "ok"


def test_black_is_an_answer(opened):
    adapter = opened("Flux2Pipeline")
    spoilt(adapter, -1.0)
    reply = adapter.answer(turn(picture(64, 64)))
    assert reply.outcome == "ok"
    assert not decode_rgb(reply.images[0], matte=WHITE).any()


@pytest.mark.parametrize("pipeline", ["Flux2Pipeline", "QwenImageEditPlusPipeline"])
def test_a_whole_cell(tiny, tmp_path, monkeypatch, pipeline):
    monkeypatch.chdir(tmp_path)
    cell = WholeCell("diffusers_edit", block_of(tiny, pipeline))
    rows, asked = cell.run()
    assert asked == len(SIZES) and [row.outcome for row in rows] == ["ok"] * len(SIZES)
    sides = PIPELINES[pipeline].sides
    for row, size in zip(rows, SIZES, strict=True):
        sent = fit_long_side(*size)
        told = setup_of(row)["sizes"]
        assert told["sent"] == list(sent)
        assert told["used"] == told["returned"] == list(sides.like(*sent))
        assert list(inspect(row.image["bytes"]).upright_size) == told["returned"]
    assert [row.warm_up for row in rows] == [True] * 3 + [False] * 2
    assert all(row.latency_s > 0 and row.device == "cpu" for row in rows)
    again, asked = cell.run()
    assert again == rows and asked == 0
    # In another shard, alone, with nothing kept: the same bytes.
    (last,), asked = cell.run(ranks=(4, 5), ledger="another")
    assert asked == 1 and last.image == rows[4].image and last.setup == rows[4].setup


@pytest.mark.parametrize("pipeline", ["Flux2Pipeline", "QwenImageEditPlusPipeline"])
def test_a_cell_goes_on_where_it_was_killed(tiny, tmp_path, monkeypatch, pipeline):
    monkeypatch.chdir(tmp_path)
    cell = WholeCell("diffusers_edit", block_of(tiny, pipeline), [(64, 64)] * 2)
    answer, answered = diffusers_edit.DiffusersEdit.answer, []

    def _killed(self, asked):
        if answered:
            raise KeyboardInterrupt
        answered.append(asked.seed)
        return answer(self, asked)

    with monkeypatch.context() as patched:
        patched.setattr(diffusers_edit.DiffusersEdit, "answer", _killed)
        with pytest.raises(KeyboardInterrupt):
            cell.run()
    rows, asked = cell.run()
    assert asked == 1 and [setup_of(row)["seed"] for row in rows][:1] == answered
    (last,), asked = cell.run(ranks=(1, 2), ledger="another")
    assert asked == 1 and last.image == rows[1].image


def test_a_cell_keeps_what_it_can_and_tells_what_it_cannot(tiny, tmp_path, monkeypatch):
    """A picture that becomes NaN costs that question alone; here, those that lie."""
    import torch
    from diffusers import AutoencoderKLFlux2

    monkeypatch.chdir(tmp_path)
    cell = WholeCell(
        "diffusers_edit", block_of(tiny, "Flux2Pipeline"), [(640, 64), (64, 640), (64, 640)]
    )
    decode = AutoencoderKLFlux2.decode

    def _spoilt(self, latents, **options):
        made = decode(self, latents, **options)[0]
        return (torch.full_like(made, float("nan")) if made.shape[2] < made.shape[3] else made,)

    monkeypatch.setattr(AutoencoderKLFlux2, "decode", _spoilt)
    rows, _ = cell.run(unresolved="keep")
    assert [row.outcome for row in rows] == ["error", "ok", "ok"]
    assert "NaN" in rows[0].detail and "float32" in rows[0].detail and rows[0].image is None
