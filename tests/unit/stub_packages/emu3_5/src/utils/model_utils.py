from pathlib import Path

from coders import Coder
from transformers import PreTrainedModel


class _Tokenizer:
    def encode(self, text, return_tensors=None, add_special_tokens=True):
        if return_tensors is None:
            return [len(text)]
        assert return_tensors == "pt" and not add_special_tokens
        return _Ids(text)

    def decode(self, tokens, skip_special_tokens):
        assert not skip_special_tokens
        return tokens


class Emu3ForCausalLM(PreTrainedModel):
    device = "cuda:0"


class _Ids:
    def __init__(self, text):
        self.text = text

    def to(self, device):
        assert device == "cuda:0"
        return self


def build_emu3p5(
    model_path, tokenizer_path, vq_path, vq_type="ibq", model_device="auto", vq_device="cuda:0"
):
    assert Path(model_path).is_dir() and Path(vq_path).is_dir() and vq_type == "ibq"
    assert tokenizer_path.endswith("repository/src/tokenizer_emu3_ibq")
    return Emu3ForCausalLM.from_pretrained(model_path), _Tokenizer(), Coder()
