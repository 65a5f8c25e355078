"""The chat model of SAMTok: answers with the mask words that the question names."""

import os

import numpy as np
from PIL import Image
from torch import bfloat16

TWO = "<|mt_start|><|mt_0000|><|mt_0256|><|mt_end|> <|mt_start|><|mt_0001|><|mt_0257|><|mt_end|>"
WORDS = {
    "two": TWO,
    "broken": "<|mt_start|><|mt_0001|>",
    "NaN": "<|mt_start|><|mt_0013|><|mt_0256|><|mt_end|>",
    "none": "There is nothing of that kind.",
}
ONE = "<|mt_start|><|mt_0000|><|mt_0257|><|mt_end|>"


class PreTrainedModel:
    """Without a warning, it lacks the tensors that STUB_LACKS names, where it is asked."""

    dtype, device = bfloat16, "cuda"

    @classmethod
    def from_pretrained(cls, folder, output_loading_info=False, **options):
        model = cls()
        model.options = options
        lacks = [key for key in os.environ.get("STUB_LACKS", "").split() if key[:5] != "flux."]
        info = {"missing_keys": lacks, "unexpected_keys": [], "mismatched_keys": []}
        return (model, info) if output_loading_info else model


class Qwen3VLForConditionalGeneration(PreTrainedModel):
    def to(self, device):
        assert self.options == {"torch_dtype": "auto"}
        return self

    def eval(self):
        return self

    def generate(self, input_ids, question, max_new_tokens, do_sample):
        assert max_new_tokens == 512 and not do_sample
        words = next((said for word, said in WORDS.items() if word in question), ONE)
        return np.array([list(input_ids[0]) + [ord(letter) for letter in words]])


class _Inputs(dict):
    def to(self, device):
        return self


class AutoProcessor:
    @classmethod
    def from_pretrained(cls, folder):
        return cls()

    def apply_chat_template(
        self, messages, tokenize, add_generation_prompt, return_dict, return_tensors
    ):
        assert tokenize and add_generation_prompt and return_dict and return_tensors == "pt"
        ((message),) = messages
        picture, question = message["content"]
        Image.open(picture["image"]).convert("RGB")
        assert question["text"].startswith("Please segment ")
        return _Inputs(input_ids=np.zeros((1, 5), int), question=question["text"])

    def batch_decode(self, ids, skip_special_tokens):
        assert skip_special_tokens
        return ["".join(map(chr, row)) for row in ids]
