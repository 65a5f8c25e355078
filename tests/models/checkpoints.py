"""Copies of tiny copies whose tensors are changed, and one that says what a test wants."""

import itertools
import shutil

import torch
from safetensors.torch import load_file, save_file

WEIGHTS = "model.safetensors"
#: The last token of a prompt: the line break after "assistant".
BEFORE_REPLY = "\u010a"
END = "<|im_end|>"


def edited(source, folder, change, file=WEIGHTS):
    """Copy a folder and apply a change to the tensors of a file; return the copy."""
    shutil.copytree(source, folder)
    tensors = load_file(folder / file)
    change(tensors)
    save_file(tensors, folder / file, metadata={"format": "pt"})
    return folder


def renamed(old, new):
    """Return a change that moves one tensor to another key."""
    return lambda tensors: tensors.update({new: tensors.pop(old)})


def speaker(folder, words):
    """Save a Qwen3-VL that answers everything with these tokens, each at most once, and ends.

    Its layers add nothing to what they get, so that the odds of the next token follow from the last
    one alone, and the head is made so that each token is followed by the next of the list.
    """
    # Tests are collected before torchvision can be imported.
    from tiny_transformers import qwen3vl, qwen_tokenizer

    tokenizer = qwen_tokenizer()
    tokenizer.add_tokens(["<think>", "</think>"])
    chain = tokenizer.convert_tokens_to_ids([BEFORE_REPLY, *words, END])
    assert len(set(chain)) == len(chain)
    qwen3vl(folder / "quiet", tokenizer)

    def teach(tensors):
        for name in tensors:
            if name.endswith(("o_proj.weight", "down_proj.weight")):
                tensors[name].zero_()
        learnt = tensors["model.language_model.embed_tokens.weight"]
        learnt.copy_(torch.randn(learnt.shape, generator=torch.Generator().manual_seed(0)))
        head = tensors["lm_head.weight"].zero_()
        for before, after in itertools.pairwise(chain):
            head[after] = learnt[before] / learnt[before].norm()

    return edited(folder / "quiet", folder / "speaker", teach)
