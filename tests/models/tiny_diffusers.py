"""Tiny copies of the pipelines that diffusers loads: real classes, random weights, no download.

A builder saves a pipeline into a folder, as its `save_pretrained` does. The caller fixes torch's
seed. What runs on them proves loading, calls, sizes and equal bytes, and nothing about answers.
"""

from diffusers import (
    AutoencoderKL,
    AutoencoderKLFlux2,
    AutoencoderKLQwenImage,
    DDIMScheduler,
    FlowMatchEulerDiscreteScheduler,
    Flux2KleinPipeline,
    Flux2Pipeline,
    Flux2Transformer2DModel,
    GlmImagePipeline,
    GlmImageTransformer2DModel,
    MarigoldDepthPipeline,
    MarigoldNormalsPipeline,
    OmniGenPipeline,
    OmniGenTransformer2DModel,
    QwenImageEditPlusPipeline,
    QwenImageTransformer2DModel,
    UNet2DConditionModel,
)
from tiny_transformers import (
    QWEN_SPECIALS,
    byte_tokenizer,
    clip_tokenizer,
    language,
    qwen2_5vl_config,
    qwen_tokenizer,
    token_ids,
)
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from tokenizers.pre_tokenizers import ByteLevel
from transformers import (
    ByT5Tokenizer,
    CLIPTextConfig,
    CLIPTextModel,
    GlmImageConfig,
    GlmImageForConditionalGeneration,
    GlmImageImageProcessor,
    GlmImageProcessor,
    Mistral3Config,
    Mistral3ForConditionalGeneration,
    PixtralImageProcessor,
    PixtralProcessor,
    PreTrainedTokenizerFast,
    Qwen2_5_VLForConditionalGeneration,
    Qwen2VLImageProcessor,
    Qwen2VLProcessor,
    Qwen2VLVideoProcessor,
    Qwen3Config,
    Qwen3ForCausalLM,
    T5Config,
    T5EncoderModel,
)

MISTRAL_SPECIALS = [
    "<unk>",
    "<s>",
    "</s>",
    "<pad>",
    "[INST]",
    "[/INST]",
    "[IMG]",
    "[IMG_BREAK]",
    "[IMG_END]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
]
MISTRAL_CHAT = (
    "{{ bos_token }}{% for message in messages %}"
    "{% set system = message['role'] == 'system' %}"
    "{{ '[SYSTEM_PROMPT]' if system else '[INST]' }}"
    "{% for part in message['content'] %}"
    "{{ part['text'] if part['type'] == 'text' else '[IMG]' }}{% endfor %}"
    "{{ '[/SYSTEM_PROMPT]' if system else '[/INST]' }}{% endfor %}"
)
PLAIN_CHAT = (
    "{% for message in messages %}<|im_start|>{{ message['content'] }}<|im_end|>{% endfor %}"
)
GLM_CHAT = (
    "{% for message in messages %}{% for part in message['content'] %}"
    "{{ '<|image|>' if part['type'] == 'image' else part['text'] }}{% endfor %}{% endfor %}"
)


def image_coder(**options):
    """Return a coder of pictures that makes them 8 times smaller, as the real ones do."""
    return AutoencoderKL(
        in_channels=3,
        out_channels=3,
        down_block_types=["DownEncoderBlock2D"] * 4,
        up_block_types=["UpDecoderBlock2D"] * 4,
        block_out_channels=[8] * 4,
        layers_per_block=1,
        norm_num_groups=4,
        latent_channels=4,
        **options,
    )


def qwen_encoder(tokenizer):
    config = qwen2_5vl_config(tokenizer)
    return Qwen2_5_VLForConditionalGeneration(config).eval()


def qwen_edit_plus(folder):
    tokenizer = qwen_tokenizer()
    QwenImageEditPlusPipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(
            use_dynamic_shifting=True,
            base_shift=0.5,
            max_shift=0.9,
            base_image_seq_len=256,
            max_image_seq_len=8192,
            shift_terminal=0.02,
            time_shift_type="exponential",
        ),
        vae=AutoencoderKLQwenImage(
            base_dim=2,
            z_dim=4,
            dim_mult=[1, 1, 1, 1],
            num_res_blocks=1,
            temperal_downsample=[False, True, True],
            latents_mean=[0.0] * 4,
            latents_std=[1.0] * 4,
        ),
        text_encoder=qwen_encoder(tokenizer),
        tokenizer=tokenizer,
        processor=Qwen2VLProcessor(
            image_processor=Qwen2VLImageProcessor(),
            tokenizer=tokenizer,
            video_processor=Qwen2VLVideoProcessor(),
            chat_template=tokenizer.chat_template,
        ),
        transformer=QwenImageTransformer2DModel(
            patch_size=2,
            in_channels=16,
            out_channels=4,
            num_layers=1,
            attention_head_dim=16,
            num_attention_heads=2,
            joint_attention_dim=16,
            guidance_embeds=False,
            axes_dims_rope=(8, 4, 4),
        ),
    ).save_pretrained(folder)


def flux2_coder():
    return AutoencoderKLFlux2(
        down_block_types=("DownEncoderBlock2D",) * 4,
        up_block_types=("UpDecoderBlock2D",) * 4,
        block_out_channels=(8,) * 4,
        layers_per_block=1,
        latent_channels=4,
        norm_num_groups=4,
        sample_size=32,
    )


def flux2_transformer(**options):
    # The text's width is three hidden layers side by side.
    return Flux2Transformer2DModel(
        patch_size=1,
        in_channels=16,
        num_layers=1,
        num_single_layers=1,
        attention_head_dim=16,
        num_attention_heads=2,
        joint_attention_dim=3 * 16,
        timestep_guidance_channels=32,
        axes_dims_rope=(4, 4, 4, 4),
        **options,
    )


def mistral_processor():
    letters = sorted(ByteLevel.alphabet())
    coder = Tokenizer(
        models.BPE(vocab={letter: place for place, letter in enumerate(letters)}, merges=[])
    )
    coder.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    coder.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=coder,
        unk_token="<unk>",
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        additional_special_tokens=MISTRAL_SPECIALS[4:],
        chat_template=MISTRAL_CHAT,
        padding_side="left",
        model_max_length=4096,
    )
    return PixtralProcessor(
        image_processor=PixtralImageProcessor(
            patch_size={"height": 14, "width": 14}, size={"longest_edge": 56}
        ),
        tokenizer=tokenizer,
        patch_size=14,
        spatial_merge_size=2,
        chat_template=MISTRAL_CHAT,
        image_token="[IMG]",
        image_break_token="[IMG_BREAK]",
        image_end_token="[IMG_END]",
    )


def flux2(folder):
    processor = mistral_processor()
    tokenizer = processor.tokenizer
    config = Mistral3Config(
        # 30 layers: the pipeline reads layers 10, 20 and 30.
        text_config={
            "model_type": "mistral",
            "hidden_size": 16,
            "intermediate_size": 32,
            "num_hidden_layers": 30,
            "num_attention_heads": 2,
            "num_key_value_heads": 1,
            "head_dim": 8,
            "vocab_size": len(tokenizer),
            "max_position_embeddings": 8192,
            **token_ids(tokenizer),
        },
        vision_config={
            "model_type": "pixtral",
            "hidden_size": 16,
            "intermediate_size": 32,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "head_dim": 8,
            "image_size": 56,
            "patch_size": 14,
        },
        image_token_index=tokenizer.convert_tokens_to_ids("[IMG]"),
        spatial_merge_size=2,
    )
    Flux2Pipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(use_dynamic_shifting=True),
        vae=flux2_coder(),
        text_encoder=Mistral3ForConditionalGeneration(config).eval(),
        tokenizer=processor,
        transformer=flux2_transformer(),
    ).save_pretrained(folder)


def flux2_klein(folder):
    tokenizer = byte_tokenizer(QWEN_SPECIALS, chat_template=PLAIN_CHAT)
    # 27 layers: the pipeline reads layers 9, 18 and 27.
    config = Qwen3Config(
        **language(
            tokenizer,
            hidden_size=16,
            intermediate_size=32,
            num_hidden_layers=27,
            num_attention_heads=2,
            num_key_value_heads=1,
            head_dim=8,
        )
    )
    Flux2KleinPipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(use_dynamic_shifting=True),
        vae=flux2_coder(),
        text_encoder=Qwen3ForCausalLM(config).eval(),
        tokenizer=tokenizer,
        transformer=flux2_transformer(guidance_embeds=False),
        is_distilled=True,
    ).save_pretrained(folder)


def glm_image(folder):
    named = {"image_token": "<|image|>", "grid_bos_token": "<sop>", "grid_eos_token": "<eop>"}
    tokenizer = byte_tokenizer(
        QWEN_SPECIALS, chat_template=GLM_CHAT, model_specific_special_tokens=named
    )
    codes = 32
    start, end = codes, codes + 1
    text = language(
        tokenizer,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        vision_vocab_size=codes + 2,
        rope_parameters={
            "rope_type": "default",
            "mrope_section": [1, 1, 2],
            "rope_theta": 1e4,
        },
    )
    text["eos_token_id"] = end
    config = GlmImageConfig(
        text_config=text,
        vision_config={
            "depth": 1,
            "hidden_size": 16,
            "intermediate_size": 16,
            "num_heads": 2,
            "image_size": 2048,
            "patch_size": 16,
        },
        vq_config={"embed_dim": 8, "num_embeddings": codes, "latent_channels": 16},
        image_token_id=tokenizer.convert_tokens_to_ids("<|image|>"),
        image_start_token_id=start,
        image_end_token_id=end,
    )
    writer = GlmImageForConditionalGeneration(config).eval()
    # The real one has learnt to write as many codes as it should; this one would stop anywhere.
    writer.generation_config.suppress_tokens = [start, end]
    letters = ByT5Tokenizer()
    pictures = GlmImageImageProcessor(
        patch_size=16,
        temporal_patch_size=1,
        merge_size=1,
        size={"shortest_edge": 512 * 512, "longest_edge": 2048 * 2048},
    )
    GlmImagePipeline(
        tokenizer=letters,
        processor=GlmImageProcessor(
            image_processor=pictures, tokenizer=tokenizer, chat_template=GLM_CHAT
        ),
        text_encoder=T5EncoderModel(
            T5Config(
                vocab_size=len(letters),
                d_model=16,
                d_kv=8,
                d_ff=16,
                num_layers=1,
                num_heads=2,
                feed_forward_proj="gated-gelu",
            )
        ).eval(),
        vision_language_encoder=writer,
        vae=image_coder(latents_mean=[0.0] * 4, latents_std=[1.0] * 4),
        transformer=GlmImageTransformer2DModel(
            patch_size=2,
            in_channels=4,
            out_channels=4,
            num_layers=1,
            attention_head_dim=16,
            num_attention_heads=2,
            text_embed_dim=16,
            time_embed_dim=16,
            condition_dim=8,
            prior_vq_quantizer_codebook_size=codes,
        ),
        scheduler=FlowMatchEulerDiscreteScheduler(use_dynamic_shifting=True),
    ).save_pretrained(folder)


def omnigen(folder):
    tokenizer = byte_tokenizer(QWEN_SPECIALS)
    half = 4
    OmniGenPipeline(
        transformer=OmniGenTransformer2DModel(
            in_channels=4,
            patch_size=2,
            hidden_size=16,
            num_attention_heads=2,
            num_key_value_heads=2,
            intermediate_size=32,
            num_layers=1,
            pad_token_id=tokenizer.pad_token_id,
            vocab_size=len(tokenizer),
            rope_scaling={"short_factor": [1.0] * half, "long_factor": [1.0] * half},
            pos_embed_max_size=192,
            time_step_dim=16,
        ),
        scheduler=FlowMatchEulerDiscreteScheduler(invert_sigmas=True, num_train_timesteps=1),
        vae=image_coder(),
        tokenizer=tokenizer,
    ).save_pretrained(folder)


def marigold_parts():
    tokenizer = clip_tokenizer(77)
    text = CLIPTextConfig(
        hidden_size=32,
        intermediate_size=37,
        num_attention_heads=4,
        num_hidden_layers=2,
        vocab_size=len(tokenizer),
        projection_dim=32,
        **token_ids(tokenizer),
    )
    return {
        "unet": UNet2DConditionModel(
            block_out_channels=(32, 32),
            layers_per_block=1,
            sample_size=32,
            in_channels=8,
            out_channels=4,
            down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
            up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
            cross_attention_dim=32,
            attention_head_dim=8,
            norm_num_groups=8,
            use_linear_projection=True,
        ),
        "vae": image_coder(),
        "scheduler": DDIMScheduler(
            beta_start=0.00085,
            beta_end=0.012,
            beta_schedule="scaled_linear",
            prediction_type="v_prediction",
            set_alpha_to_one=False,
            steps_offset=1,
            clip_sample=False,
            timestep_spacing="trailing",
            rescale_betas_zero_snr=True,
        ),
        "text_encoder": CLIPTextModel(text).eval(),
        "tokenizer": tokenizer,
    }


def marigold_depth(folder):
    MarigoldDepthPipeline(
        **marigold_parts(),
        prediction_type="depth",
        scale_invariant=True,
        shift_invariant=True,
        default_denoising_steps=2,
        default_processing_resolution=256,
    ).save_pretrained(folder)


def marigold_normals(folder):
    MarigoldNormalsPipeline(
        **marigold_parts(),
        prediction_type="normals",
        default_denoising_steps=2,
        default_processing_resolution=256,
    ).save_pretrained(folder)


BUILDERS = {
    "flux2": flux2,
    "flux2_klein": flux2_klein,
    "glm_image": glm_image,
    "marigold_depth": marigold_depth,
    "marigold_normals": marigold_normals,
    "omnigen": omnigen,
    "qwen_edit_plus": qwen_edit_plus,
}
