import argparse
from pathlib import Path

import numpy as np
import torch

CONF_THRESH = 0.23


class _Model(torch.nn.Module):
    tensors = ("backbone.weight", "head.weight")

    def forward(self, text):
        """Return a score a letter, on both sides of the threshold, and one of no word."""
        with np.errstate(divide="ignore"):
            scores = np.append(np.linspace(0.2, 1, len(text)), 0)
            logits = np.log(scores / (1 - scores))
        return {"pred_logits": torch.Tensor(logits * np.nan if text == "NaN" else logits)}

    def to(self, device):
        return self


def get_args_parser():
    parser = argparse.ArgumentParser("stub", add_help=False)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--pretrain_model_path", default="checkpoints/countgd_plusplus.pth")
    return parser


def get_device():
    return torch.device("cuda")


def build_model_and_transforms(args):
    assert Path("app.py").exists(), "it reads files beside itself"
    assert Path(args.pretrain_model_path).exists()
    print("building")
    return _Model(), "transform"


def predict(
    model, transform, image, positive_text, positive_prompts, negative_texts, negative_prompts,
    device,
):  # fmt: skip
    """Find as many boxes as the phrase has letters, fewer above a threshold."""
    assert positive_prompts == {"image": image, "points": []}
    assert (transform, negative_texts, negative_prompts) == ("transform", [], [])
    scores = model(positive_text)["pred_logits"].sigmoid().numpy()
    kept = scores[scores > CONF_THRESH]
    return np.zeros((len(kept), 4)), kept
