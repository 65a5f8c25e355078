"""Tiny copies of the models that transformers loads: real classes, random weights, no download.

A builder saves a model and its processor into a folder, as their `save_pretrained` does. The caller
fixes torch's seed. What runs on them proves loading, calls and sizes, and nothing about answers.
"""

import sentencepiece
import torch
from tokenizers import AddedToken
from tokenizers.pre_tokenizers import ByteLevel
from transformers import (
    BitImageProcessor,
    CLIPConfig,
    CLIPImageProcessor,
    CLIPModel,
    CLIPProcessor,
    CLIPTokenizer,
    DepthAnythingConfig,
    DepthAnythingForDepthEstimation,
    Dinov2Config,
    Dinov2Model,
    DPTImageProcessor,
    Molmo2Config,
    Molmo2ForConditionalGeneration,
    Molmo2ImageProcessor,
    Molmo2Processor,
    Molmo2VideoProcessor,
    Qwen2_5_VLConfig,
    Qwen2_5_VLForConditionalGeneration,
    Qwen2_5_VLProcessor,
    Qwen2Tokenizer,
    Qwen2VLImageProcessor,
    Qwen2VLVideoProcessor,
    Qwen3VLConfig,
    Qwen3VLForConditionalGeneration,
    Qwen3VLProcessor,
    Qwen3VLVideoProcessor,
    Sam3Config,
    Sam3ImageProcessor,
    Sam3Model,
    Sam3Processor,
    SiglipConfig,
    SiglipImageProcessor,
    SiglipModel,
    SiglipProcessor,
    SiglipTokenizer,
)

IMAGENET = {"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}
SMALL_CLIP = {
    "hidden_size": 32,
    "intermediate_size": 37,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
}
EYE = {**SMALL_CLIP, "image_size": 32, "patch_size": 8}

QWEN_SPECIALS = [
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|vision_pad|>",
    "<|image_pad|>",
    "<|video_pad|>",
]
QWEN_IMAGE = "<|vision_start|><|image_pad|><|vision_end|>"
MOLMO_SPECIALS = [
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<im_start>",
    "<im_end>",
    "<im_patch>",
    "<im_col>",
    "<low_res_im_start>",
    "<im_low>",
    "<frame_start>",
    "<frame_end>",
    "<|image|>",
    "<|video|>",
]


def chat_template(image):
    """Return a chat template that writes `image` where a picture stands."""
    part = "{% if part['type'] == 'image' %}" + image + "{% else %}{{ part['text'] }}{% endif %}"
    return (
        "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
        "{% for part in message['content'] %}" + part + "{% endfor %}<|im_end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )


def byte_tokenizer(specials, **options):
    """Return a tokenizer of single bytes and these special tokens."""
    letters = [*sorted(ByteLevel.alphabet()), *specials]
    return Qwen2Tokenizer(
        vocab={letter: place for place, letter in enumerate(letters)},
        merges=[],
        unk_token=None,
        bos_token=None,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        model_max_length=8192,
        additional_special_tokens=[AddedToken(s, special=True) for s in specials],
        **options,
    )


def qwen_tokenizer():
    return byte_tokenizer(QWEN_SPECIALS, chat_template=chat_template(QWEN_IMAGE))


def qwen_tokens(tokenizer):
    """Return the ids that a Qwen-VL config names."""
    of = tokenizer.convert_tokens_to_ids
    return {
        "image_token_id": of("<|image_pad|>"),
        "video_token_id": of("<|video_pad|>"),
        "vision_start_token_id": of("<|vision_start|>"),
        "vision_end_token_id": of("<|vision_end|>"),
    }


def language(tokenizer, **sizes):
    """Return the text half of a small chat model's config."""
    return {
        "vocab_size": len(tokenizer),
        "max_position_embeddings": 8192,
        "bos_token_id": None,
        "pad_token_id": tokenizer.pad_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        **sizes,
    }


def clip_tokenizer(length):
    letters = sorted(ByteLevel.alphabet())
    words = [*letters, *(f"{letter}</w>" for letter in letters)]
    words += ["<|startoftext|>", "<|endoftext|>"]
    vocabulary = {word: place for place, word in enumerate(words)}
    return CLIPTokenizer(vocab=vocabulary, merges=[], model_max_length=length)


def token_ids(tokenizer):
    """Return the ids that a text encoder's config names."""
    names = ("bos_token_id", "eos_token_id", "pad_token_id")
    return {name: getattr(tokenizer, name) for name in names}


def depth_anything(folder):
    backbone = Dinov2Config(
        hidden_size=32,
        num_hidden_layers=4,
        num_attention_heads=4,
        mlp_ratio=2,
        image_size=56,
        patch_size=14,
        out_indices=[1, 2, 3, 4],
        apply_layernorm=True,
        reshape_hidden_states=False,
    )
    config = DepthAnythingConfig(
        backbone_config=backbone,
        reassemble_hidden_size=32,
        neck_hidden_sizes=[8, 8, 16, 16],
        fusion_hidden_size=8,
        head_hidden_size=8,
        patch_size=14,
    )
    model = DepthAnythingForDepthEstimation(config).eval()
    # Random weights end below the last ReLU as often as above it: a bias keeps the map from 0.
    with torch.no_grad():
        model.head.conv3.bias.fill_(1.0)
    model.save_pretrained(folder)
    DPTImageProcessor(
        size={"height": 56, "width": 56},
        keep_aspect_ratio=True,
        ensure_multiple_of=14,
        resample=3,
        **IMAGENET,
    ).save_pretrained(folder)


def sam3(folder):
    tokenizer = clip_tokenizer(32)
    encoder = {"hidden_size": 32, "num_attention_heads": 4, "intermediate_size": 64}
    eye = {
        **encoder,
        "model_type": "sam3_vit_model",
        "num_hidden_layers": 4,
        "image_size": 112,
        "patch_size": 14,
        "window_size": 4,
        "global_attn_indexes": [1, 3],
        "pretrain_image_size": 56,
    }
    config = Sam3Config(
        vision_config={
            "backbone_config": eye,
            "fpn_hidden_size": 32,
            "backbone_feature_sizes": [[32, 32], [16, 16], [8, 8]],
            "scale_factors": [4.0, 2.0, 1.0, 0.5],
        },
        text_config={
            **encoder,
            "num_hidden_layers": 2,
            "vocab_size": len(tokenizer),
            "projection_dim": 32,
            "max_position_embeddings": 32,
            **token_ids(tokenizer),
        },
        geometry_encoder_config={**encoder, "num_layers": 1, "roi_size": 7},
        detr_encoder_config={**encoder, "num_layers": 1},
        detr_decoder_config={**encoder, "num_layers": 1, "num_queries": 10},
        mask_decoder_config={
            "hidden_size": 32,
            "num_upsampling_stages": 3,
            "num_attention_heads": 4,
        },
    )
    Sam3Model(config).eval().save_pretrained(folder)
    pictures = Sam3ImageProcessor(size={"height": 112, "width": 112})
    Sam3Processor(image_processor=pictures, tokenizer=tokenizer).save_pretrained(folder)


def qwen3vl(folder, tokenizer=None):
    tokenizer = tokenizer or qwen_tokenizer()
    config = Qwen3VLConfig(
        text_config=language(
            tokenizer,
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            head_dim=16,
            rope_parameters={
                "rope_type": "default",
                "mrope_section": [4, 2, 2],
                "mrope_interleaved": True,
                "rope_theta": 5e6,
            },
        ),
        vision_config={
            "depth": 2,
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_heads": 4,
            "out_hidden_size": 32,
            "patch_size": 16,
            "spatial_merge_size": 2,
            "temporal_patch_size": 2,
            "num_position_embeddings": 64,
            "deepstack_visual_indexes": [0, 1],
        },
        **qwen_tokens(tokenizer),
    )
    Qwen3VLForConditionalGeneration(config).eval().save_pretrained(folder)
    pictures = Qwen2VLImageProcessor(
        patch_size=16,
        merge_size=2,
        size={"shortest_edge": 32 * 32, "longest_edge": 128 * 128},
        image_mean=[0.5] * 3,
        image_std=[0.5] * 3,
    )
    Qwen3VLProcessor(
        image_processor=pictures,
        tokenizer=tokenizer,
        video_processor=Qwen3VLVideoProcessor(),
        chat_template=tokenizer.chat_template,
    ).save_pretrained(folder)


def qwen2_5vl_config(tokenizer):
    return Qwen2_5_VLConfig(
        text_config=language(
            tokenizer,
            hidden_size=16,
            intermediate_size=16,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=2,
            rope_parameters={
                "rope_type": "default",
                "mrope_section": [1, 1, 2],
                "rope_theta": 1e6,
            },
        ),
        vision_config={
            "depth": 2,
            "hidden_size": 16,
            "intermediate_size": 16,
            "num_heads": 2,
            "out_hidden_size": 16,
            "fullatt_block_indexes": [1],
        },
        **qwen_tokens(tokenizer),
    )


def qwen2_5vl(folder):
    tokenizer = qwen_tokenizer()
    config = qwen2_5vl_config(tokenizer)
    Qwen2_5_VLForConditionalGeneration(config).eval().save_pretrained(folder)
    Qwen2_5_VLProcessor(
        image_processor=Qwen2VLImageProcessor(
            size={"shortest_edge": 28 * 28, "longest_edge": 112 * 112}
        ),
        tokenizer=tokenizer,
        video_processor=Qwen2VLVideoProcessor(),
        chat_template=tokenizer.chat_template,
    ).save_pretrained(folder)


def molmo2(folder):
    template = chat_template("<|image|>")
    tokenizer = byte_tokenizer(MOLMO_SPECIALS, chat_template=template)
    of = tokenizer.convert_tokens_to_ids
    heads = {"num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 8}
    config = Molmo2Config(
        text_config=language(
            tokenizer,
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            head_dim=8,
            additional_vocab_size=0,
            rope_parameters={"rope_type": "default", "rope_theta": 1e6},
        ),
        vision_config={
            **heads,
            "hidden_size": 16,
            "intermediate_size": 32,
            "num_hidden_layers": 2,
            "image_size": [56, 56],
            "patch_size": 14,
        },
        adapter_config={
            **heads,
            "hidden_size": 16,
            "intermediate_size": 32,
            "text_hidden_size": 32,
            "vision_feature_layer": [1, 0],
        },
        image_start_token_id=of("<im_start>"),
        low_res_image_start_token_id=of("<low_res_im_start>"),
        image_end_token_id=of("<im_end>"),
        image_patch_id=of("<im_patch>"),
        frame_start_token_id=of("<frame_start>"),
        frame_end_token_id=of("<frame_end>"),
    )
    Molmo2ForConditionalGeneration(config).eval().save_pretrained(folder)
    pictures = Molmo2ImageProcessor(
        size={"height": 56, "width": 56}, max_crops=2, overlap_margins=[0, 0], patch_size=14
    )
    Molmo2Processor(
        image_processor=pictures,
        video_processor=Molmo2VideoProcessor(size={"height": 56, "width": 56}),
        tokenizer=tokenizer,
        chat_template=template,
    ).save_pretrained(folder)


def siglip(folder):
    nouns = ["fox", "ball", "cup", "lamp", "boat", "tree", "shoe", "key"]
    lines = [f"a picture of {n} {a} and {b}" for n in range(5) for a in nouns for b in nouns]
    folder.mkdir(parents=True, exist_ok=True)
    pieces = folder / "spiece.model"
    with pieces.open("wb") as written:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines),
            model_writer=written,
            vocab_size=64,
            model_type="unigram",
            hard_vocab_limit=False,
            pad_id=-1,
            bos_id=-1,
            eos_id=1,
            unk_id=0,
            unk_surface="",
            minloglevel=2,
        )
    tokenizer = SiglipTokenizer(vocab_file=str(pieces), model_max_length=64)
    text = {
        **SMALL_CLIP,
        "vocab_size": len(tokenizer),
        "max_position_embeddings": 64,
        "projection_size": 32,
    }
    SiglipModel(SiglipConfig(text_config=text, vision_config=EYE)).eval().save_pretrained(folder)
    pictures = SiglipImageProcessor(size={"height": 32, "width": 32})
    SiglipProcessor(image_processor=pictures, tokenizer=tokenizer).save_pretrained(folder)


def dinov2(folder):
    config = Dinov2Config(
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        mlp_ratio=2,
        image_size=56,
        patch_size=14,
    )
    Dinov2Model(config).eval().save_pretrained(folder)
    BitImageProcessor(
        size={"shortest_edge": 64},
        crop_size={"height": 56, "width": 56},
        do_center_crop=True,
        **IMAGENET,
    ).save_pretrained(folder)


def clip(folder):
    tokenizer = clip_tokenizer(77)
    text = {**SMALL_CLIP, "vocab_size": len(tokenizer), "projection_dim": 32}
    config = CLIPConfig(
        text_config={**text, **token_ids(tokenizer)}, vision_config=EYE, projection_dim=32
    )
    CLIPModel(config).eval().save_pretrained(folder)
    pictures = CLIPImageProcessor(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32})
    CLIPProcessor(image_processor=pictures, tokenizer=tokenizer).save_pretrained(folder)


BUILDERS = {
    "clip": clip,
    "depth_anything": depth_anything,
    "dinov2": dinov2,
    "molmo2": molmo2,
    "qwen2_5vl": qwen2_5vl,
    "qwen3vl": qwen3vl,
    "sam3": sam3,
    "siglip": siglip,
}
