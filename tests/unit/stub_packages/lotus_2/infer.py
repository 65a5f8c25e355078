import numpy as np
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
    return transformer, "between"


def process_single_image(
    image_path, pipeline, task_name, device, num_inference_steps, process_res=None
):
    assert pipeline.local_continuity_module == "between"
    assert (task_name, num_inference_steps, device.type) == ("depth", 10, "cuda")
    image = Image.open(image_path).convert("RGB")
    return image, image, np.asarray(image.convert("L")) / 255 - 0.5
