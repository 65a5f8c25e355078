import random

import torch  # noqa: F401
from coders import decoded
from PIL import Image


def generate(
    cfg, model, tokenizer, input_ids, unconditional_ids, full_unconditional_ids=None,
    force_same_image_size=True,
):  # fmt: skip
    assert cfg.classifier_free_guidance == 5.0 and cfg.special_token_ids == {"BOS": 13, "EOS": 13}
    assert "[picture" in unconditional_ids.text and full_unconditional_ids is None
    assert "[picture" in input_ids.text and force_same_image_size
    assert len(input_ids.text) > len(unconditional_ids.text)
    if "refuse" in input_ids.text:
        yield "I would rather not."
    else:
        plan = "a plan with NaN" if "NaN" in input_ids.text else "a plan"
        yield f"{plan}\n{random.randrange(2**24)}"


def multimodal_decode(outputs, tokenizer, vision_tokenizer):
    text, _, colour = outputs.partition("\n")
    parts = [("text", text)]
    if colour:
        picture = Image.new("RGB", (32, 16), f"#{int(colour):06x}")
        try:
            parts.append(("image", decoded(vision_tokenizer.decoder, picture, text)))
        except Exception as error:
            print(f"no picture: {error}")
    return parts
