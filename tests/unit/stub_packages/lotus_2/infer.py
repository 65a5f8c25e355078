import numpy as np
import torch
from PIL import Image

CORE_PREDICTOR_FILENAME = {"depth": "core_depth.safetensors", "normal": "core_normal.safetensors"}
LCM_FILENAME = {"depth": "lcm_depth.safetensors", "normal": "lcm_normal.safetensors"}
DETAIL_SHARPENER_FILENAME = {"depth": "detail_depth.safetensors", "normal": "detail.safetensors"}


def load_lora_and_lcm_weights(
    transformer, core_predictor_model_path, lcm_model_path, detail_sharpener_model_path, task_name
):
    paths = (core_predictor_model_path, lcm_model_path, detail_sharpener_model_path)
    assert [path.rpartition("/")[2] for path in paths] == [
        "core_depth.safetensors",
        "lcm_depth.safetensors",
        "detail_depth.safetensors",
    ]
    assert task_name == "depth"
    transformer.adapters = ("core_predictor", "detail_sharpener")
    return transformer, "between"


def process_single_image(
    image_path, pipeline, task_name, device, num_inference_steps, process_res=None
):
    assert pipeline.local_continuity_module == "between"
    assert (task_name, num_inference_steps, device.type) == ("depth", 10, "cuda")
    image = Image.open(image_path).convert("RGB")
    levels = np.asarray(image.convert("L")) / 255
    if image.width == 13:
        levels[0, 0] = np.inf
    made = pipeline.vae.decoder(torch.Tensor(levels)).numpy()
    return image, image, made.clip(0, 1) - 0.5
