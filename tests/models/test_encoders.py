"""Encoders that run on torch: one vector a picture and text, whatever they are embedded with."""

import json
import shutil
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from checkpoints import edited, renamed

from gensight import encoders
from gensight.errors import GensightError, SpecError

#: Words that the tiny tokenizer knows; the others would all be the same unknown piece.
LABELS = [f"a picture of {n} {noun}" for n in range(5) for noun in ("fox", "ball", "cup", "key")]
MODULES = ["siglip", "dinov2", "open_clip_pair"]
PAIRS = ["siglip", "open_clip_pair"]
needs_open_clip = pytest.mark.skipif(
    find_spec("open_clip") is None, reason="open_clip_torch is not installed"
)


def each(modules):
    marks = {"open_clip_pair": [needs_open_clip]}
    return pytest.mark.parametrize(
        "module", [pytest.param(name, marks=marks.get(name, [])) for name in modules]
    )


@pytest.fixture(scope="session")
def folders(tiny, tmp_path_factory):
    """Return the folder of a tiny checkpoint by module, built when it is first asked for."""

    class Folders:
        def __getitem__(self, module):
            if module != "open_clip_pair":
                return tiny[module]
            folder = tmp_path_factory.getbasetemp() / "tiny_open_clip"
            return folder if folder.exists() else open_clip_pair(folder, tiny["siglip"])

    return Folders()


def open_clip_pair(folder, siglip):
    """Save a tiny pair as repositories of open_clip's SigLIP hold one; return the folder."""
    import open_clip
    import torch
    from safetensors.torch import save_file

    shutil.copytree(siglip, folder, ignore=shutil.ignore_patterns("*.safetensors", "config.json"))
    tower = {"width": 32, "layers": 2}
    model_cfg = {
        "embed_dim": 32,
        "init_logit_bias": -10,
        "custom_text": True,
        "vision_cfg": {**tower, "image_size": 32, "patch_size": 8, "head_width": 16},
        "text_cfg": {
            **tower,
            "heads": 2,
            "context_length": 64,
            "vocab_size": 64,
            "hf_tokenizer_name": "timm/ViT-B-16-SigLIP",
            "tokenizer_kwargs": {"clean": "canonicalize"},
            "no_causal_mask": True,
            "pool_type": "last",
        },
    }
    preprocess_cfg = {"size": [32, 32], "mean": [0.5] * 3, "std": [0.5] * 3}
    known = {"model_cfg": model_cfg, "preprocess_cfg": preprocess_cfg}
    (folder / "open_clip_config.json").write_text(json.dumps(known))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = open_clip.create_model(f"local-dir:{folder}")
    save_file(dict(model.state_dict()), folder / "open_clip_model.safetensors")
    return folder


@pytest.fixture(scope="session")
def opened(folders):
    """Return an encoder by module, loaded once."""
    made = {}

    def of(module):
        if module not in made:
            made[module] = opened_at(module, folders[module])
        return made[module]

    return of


def opened_at(module, folder, **settings):
    return encoders.open_encoder(module, {"model": str(folder), **settings}, Path())


def pictures(count, height=40, width=56):
    random = np.random.default_rng(3)
    return [random.integers(0, 256, (height + n, width, 3), np.uint8) for n in range(count)]


def by_hand(folder, model, picture, size, mean, std):
    """Return the pooled output for a picture squashed by Pillow, normalised by numpy."""
    import torch
    import transformers
    from PIL import Image

    small = Image.fromarray(picture).resize(size, Image.Resampling.BICUBIC)
    levels = (np.asarray(small, np.float32) / 255 - mean) / std
    inputs = torch.from_numpy(levels.astype(np.float32)).permute(2, 0, 1)[None]
    loaded = getattr(transformers, model).from_pretrained(folder).eval()
    with torch.inference_mode():
        return loaded, inputs


def cosine(one, other):
    one, other = np.ravel(one), np.ravel(other)
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


@each(MODULES)
def test_vectors_are_of_unit_length_and_differ(opened, module):
    encoder, shown = opened(module), pictures(11)
    made = encoder.pictures(shown)
    assert (made.shape, made.dtype) == ((11, encoder.dimensions), np.float32)
    np.testing.assert_allclose(np.linalg.norm(made, axis=1), 1, atol=1e-6)
    others = (made @ made.T)[~np.eye(11, dtype=bool)]
    assert others.max() < 1 - 1e-4


@each(MODULES)
def test_a_picture_has_the_same_vector_alone_and_among_others(opened, module):
    encoder, shown = opened(module), pictures(19)
    together = encoder.pictures(shown)
    for place in (0, 7, 8, 18):
        (alone,) = encoder.pictures([shown[place]])
        np.testing.assert_allclose(alone, together[place], atol=1e-5)
    np.testing.assert_allclose(encoder.pictures(shown[::-1])[::-1], together, atol=1e-5)


@each(PAIRS)
def test_a_label_has_the_same_vector_alone_and_among_five_hundred(opened, module):
    """Were texts padded to the longest of their batch, the short ones would change here."""
    encoder = opened(module)
    texts = ["fox", *LABELS * 25, "a picture of 1 fox and cup and key and ball and boat"][-500:]
    together = encoder.texts(texts)
    assert together.shape == (500, encoder.dimensions)
    for place in (0, 63, 64, 499):
        (alone,) = encoder.texts([texts[place]])
        np.testing.assert_allclose(alone, together[place], atol=1e-5)
    assert np.abs(together[0] - together[1]).max() > 1e-4


@each(MODULES)
def test_nothing_has_no_vectors(opened, module):
    encoder = opened(module)
    assert encoder.pictures([]).shape == (0, encoder.dimensions)
    if encoders.load(module).READS_TEXT:
        assert encoder.texts([]).shape == (0, encoder.dimensions)


def test_siglip_squashes_and_takes_the_pooled_output(folders, opened):
    """The same by hand: nothing of a wide picture is cut away."""
    import torch

    (shown,) = pictures(1, 32, 90)
    loaded, inputs = by_hand(folders["siglip"], "SiglipModel", shown, (32, 32), 0.5, 0.5)
    with torch.inference_mode():
        wanted = loaded.vision_model(pixel_values=inputs).pooler_output.numpy()
    (made,) = opened("siglip").pictures([shown])
    assert cosine(made, wanted) > 1 - 1e-5
    cut = shown[:, 29:61]
    assert cosine(made, opened("siglip").pictures([cut])[0]) < 1 - 1e-3


def test_siglip_reads_its_padding_without_a_mask(folders, opened):
    """The same by hand: pieces, the end sign, and the end sign again up to 64 tokens."""
    import torch
    from sentencepiece import SentencePieceProcessor
    from transformers import SiglipModel

    pieces = SentencePieceProcessor(model_file=str(folders["siglip"] / "spiece.model"))
    tokens = pieces.encode("a picture of 3 fox")
    padded = torch.tensor([tokens + [1] * (64 - len(tokens))])
    loaded = SiglipModel.from_pretrained(folders["siglip"]).eval()
    with torch.inference_mode():
        wanted = loaded.text_model(input_ids=padded).pooler_output.numpy()
        short = loaded.text_model(input_ids=padded[:, : len(tokens) + 1]).pooler_output.numpy()
        masked = loaded.text_model(
            input_ids=padded, attention_mask=(torch.arange(64) <= len(tokens)).long()[None]
        ).pooler_output.numpy()
    (made,) = opened("siglip").texts(["a picture of 3 fox"])
    assert cosine(made, wanted) > 1 - 1e-6
    assert cosine(made, short) < 1 - 1e-4 and cosine(made, masked) < 1 - 1e-4


@each(PAIRS)
def test_the_form_of_texts_is_canonical(opened, module):
    plain, dressed = opened(module).texts(["a picture of 3 fox", "A Picture, of  3 FOX."])
    np.testing.assert_array_equal(plain, dressed)


def test_dinov2_sees_the_whole_picture_and_takes_the_class_token(folders, opened):
    import torch

    imagenet = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
    (shown,) = pictures(1, 90, 90)
    loaded, inputs = by_hand(folders["dinov2"], "Dinov2Model", shown, (56, 56), *imagenet)
    with torch.inference_mode():
        wanted = loaded(pixel_values=inputs).last_hidden_state[:, 0].numpy()
    assert cosine(opened("dinov2").pictures([shown])[0], wanted) > 1 - 1e-5


def test_dinov2_loses_its_border_only_where_that_is_asked_for(folders, opened):
    """The checkpoint resizes to 64 and crops to 56: of 64 pixels, a border of 4 is never seen."""
    framed = np.full((64, 64, 3), 90, np.uint8)
    framed[10:54, 10:54] = pictures(1, 44, 44)[0]
    plain = framed.copy()
    framed[:3], framed[-3:], framed[:, :3], framed[:, -3:] = 255, 255, 255, 255
    bordered = opened_at("dinov2", folders["dinov2"], assumed_crop="border")
    np.testing.assert_array_equal(*bordered.pictures([framed, plain]))
    whole = opened("dinov2").pictures([framed, plain])
    assert cosine(*whole) < 1 - 1e-4


def test_dinov2_looks_at_a_square_of_whole_patches(folders):
    encoder = opened_at("dinov2", folders["dinov2"], assumed_side_px=70)
    assert json.loads(encoder.setup)["side_px"] == 70
    with pytest.raises(SpecError, match=r"assumed_side_px: 225 pixels [^\n]*take 224$"):
        opened_at("dinov2", folders["dinov2"], assumed_side_px=225)


def test_dinov2_reads_no_texts(opened):
    with pytest.raises(SpecError, match="reads no texts; take"):
        opened("dinov2").texts(["fox"])


@each(PAIRS)
def test_a_text_is_never_cut(opened, module):
    encoder = opened(module)
    with pytest.raises(GensightError, match=r"'fox fox [^\n]*\.\.\.' has 65 tokens .* reads 64;"):
        encoder.texts(["cup", " ".join(["fox"] * 64)])
    assert encoder.texts([" ".join(["fox"] * 63)]).shape == (1, encoder.dimensions)


@each(PAIRS)
def test_a_length_that_the_checkpoint_does_not_have_is_refused(folders, module):
    with pytest.raises(GensightError, match=r"text_tokens: the checkpoint reads 64 tokens, not 16"):
        opened_at(module, folders[module], text_tokens=16)


WEIGHTS = {
    "siglip": ("model.safetensors", "vision_model.head.probe"),
    "dinov2": ("model.safetensors", "layernorm.bias"),
    "open_clip_pair": ("open_clip_model.safetensors", "visual.ln_post.bias"),
}


@each(MODULES)
def test_weights_under_another_name_are_refused(folders, tmp_path, module):
    """One change makes one key missing and one unexpected; libraries would only warn."""
    file, key = WEIGHTS[module]
    spoilt = edited(folders[module], tmp_path / "other", renamed(key, "stranger"), file)
    with pytest.raises(GensightError, match=rf"^encoder {module}: other: [^\n]*$") as told:
        opened_at(module, spoilt)
    assert key in str(told.value) and "stranger" in str(told.value)


@each(MODULES)
def test_nan_is_an_error_that_names_the_encoder(folders, tmp_path, module):
    file, key = WEIGHTS[module]

    def spoil(tensors):
        tensors[key].fill_(float("nan"))

    encoder = opened_at(module, edited(folders[module], tmp_path / "spoilt", spoil, file))
    with pytest.raises(GensightError, match=rf"^encoder {module}: spoilt: 2 of 2 vectors hold NaN"):
        encoder.pictures(pictures(2))


@each(MODULES)
def test_numbers_of_half_length_give_nearly_the_same_vectors(folders, opened, module):
    shown = pictures(3)
    half = opened_at(module, folders[module], dtype="bfloat16")
    assert json.loads(half.setup)["dtype"] == "bfloat16"
    cosines = (half.pictures(shown) * opened(module).pictures(shown)).sum(axis=1)
    assert cosines.min() > 0.99


@each(MODULES)
def test_what_is_told_of_an_encoder(opened, folders, module):
    setup = json.loads(opened(module).setup)
    assert setup["weights"] == folders[module].name and setup["dtype"] == "float32"
    assert all(setup["libraries"].values()) and {"torch", "transformers"} <= set(setup["libraries"])


@each(MODULES)
def test_what_is_wrong_is_told_in_one_line(folders, module):
    with pytest.raises(SpecError, match=r"key 'settings\.model' is missing; add it"):
        encoders.open_encoder(module, {}, Path())
    with pytest.raises(GensightError, match=rf"^encoder {module}: settings\.model: there is no"):
        opened_at(module, "./nowhere")
    with pytest.raises(
        GensightError, match=rf"^encoder {module}: nobody/nothing: .* settings\.model"
    ):
        opened_at(module, "nobody/nothing")
    with pytest.raises(SpecError, match=rf"^encoder {module}: settings\.dtype: 'int8'"):
        opened_at(module, folders[module], dtype="int8")
    with pytest.raises(ValueError, match=r"picture 1 is float64 \(8, 8, 3\), not uint8"):
        opened_at(module, folders[module]).pictures([pictures(1)[0], np.ones((8, 8, 3))])


def test_a_folder_is_looked_for_below_the_root(folders):
    found = encoders.open_encoder(
        "dinov2", {"model": folders["dinov2"].name}, folders["dinov2"].parent
    )
    assert found.dimensions == 32


@needs_open_clip
def test_open_clip_never_runs_untrained(folders, tmp_path):
    """A folder without weights makes open_clip warn and go on with random numbers."""
    bare = tmp_path / "bare"
    shutil.copytree(folders["open_clip_pair"], bare)
    (bare / "open_clip_model.safetensors").unlink()
    with pytest.raises(GensightError, match=r"^encoder open_clip_pair: bare: cannot be loaded"):
        opened_at("open_clip_pair", bare)


@needs_open_clip
def test_open_clip_squashes(opened):
    (shown,) = pictures(1, 32, 90)
    encoder = opened("open_clip_pair")
    prepared = encoder.prepare.transforms[0]
    assert tuple(prepared.size) == (32, 32)
    painted = shown.copy()
    painted[:, :10] = 0
    assert cosine(*encoder.pictures([shown, painted])) < 1 - 1e-5
