from contextlib import nullcontext


class Accelerator:
    def __init__(self, mixed_precision=None):
        assert mixed_precision in ("no", "bf16", "fp16")
        self.device = "cuda"


def init_empty_weights():
    return nullcontext()


def load_checkpoint_and_dispatch(model, checkpoint, device_map=None, dtype=None, strict=False):
    assert checkpoint.endswith("/ema.safetensors") and device_map == {"": 0}
    assert repr(dtype) == "torch.bfloat16" and strict
    model.loaded = True  # a tensor that the file lacks would stay as it is
    return model
