import random

from coders import decoded
from PIL import Image, ImageOps


class InterleaveInferencer:
    def __init__(self, model, vae_model, tokenizer, vae_transform, vit_transform, new_token_ids):
        assert model.loaded and new_token_ids == {"bos": 0} and tokenizer == "tokenizer and ids"
        assert (vae_transform.sizes, vit_transform.sizes) == ((1024, 512, 16), (980, 224, 14))
        self.vae_model = vae_model

    def interleave_inference(
        self, input_lists, think=False, understanding_output=False, max_think_token_n=1000,
        do_sample=False, text_temperature=0.3, cfg_text_scale=3.0, cfg_img_scale=1.5,
        cfg_interval=(0.4, 1.0), timestep_shift=3.0, num_timesteps=50, cfg_renorm_min=0.0,
        cfg_renorm_type="global", image_shapes=(1024, 1024), enable_taylorseer=False,
    ):  # fmt: skip
        assert (cfg_text_scale, cfg_img_scale, cfg_renorm_type) == (4.0, 2.0, "text_channel")
        picture, text = input_lists
        assert isinstance(picture, Image.Image) and isinstance(text, str)
        shade = tuple(random.randrange(256) for _ in range(3))
        painted = ImageOps.colorize(picture.convert("L"), "black", shade)
        thoughts = ["a thought"] if think else []
        return [*thoughts, decoded(self.vae_model.decoder, painted.resize((32, 16)), text)]
