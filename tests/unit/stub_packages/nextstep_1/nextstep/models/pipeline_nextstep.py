import os
from pathlib import Path

import numpy as np
from coders import Coder, decoded
from PIL import Image
from transformers import PreTrainedModel

assert os.environ["ENABLE_TORCH_COMPILE"] == "false"


class NextStepPipeline:
    def __init__(self, model_name_or_path=None, vae_name_or_path=None, tokenizer=None, model=None,
                 vae=None):  # fmt: skip
        assert Path(model_name_or_path).is_dir() and Path(vae_name_or_path).is_dir()
        self.model = PreTrainedModel.from_pretrained(model_name_or_path)
        self.vae = Coder()  # whatever checkpoint.pt holds

    def to(self, device=None, dtype=None):
        assert device == "cuda" and repr(dtype) == "torch.bfloat16"
        return self

    def generate_image(
        self, captions, images=None, num_images_per_caption=1, positive_prompt=None,
        negative_prompt=None, hw=(256, 256), use_norm=False, cfg=1.0, cfg_img=1.0,
        cfg_schedule="constant", timesteps_shift=1.0, num_sampling_steps=20, seed=42,
        progress=True,
    ):  # fmt: skip
        assert captions.startswith("<image>") and images.size == hw[::-1] == (512, 512)
        assert (cfg, cfg_img, timesteps_shift, num_sampling_steps) == (7.5, 2.0, 3.2, 50)
        assert use_norm and negative_prompt and num_images_per_caption == 1
        np.random.seed(seed)
        picture = Image.fromarray(np.random.randint(0, 256, (*hw, 3)).astype(np.uint8))
        return [decoded(self.vae.decoder, picture, captions)]
