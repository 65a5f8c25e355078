from pathlib import Path

Path("./outputs").mkdir()  # as its logger does

vq_type, hf_device, vq_device = "ibq", "auto", "cuda:0"
classifier_free_guidance = 3.0
image_area = 1048576
template = "You help. USER: <|IMAGE|>{question} ASSISTANT:"
unc_prompt = "You help. USER: <|IMAGE|> ASSISTANT:"
sampling_params = {"use_cache": True, "image_top_k": 5120}
special_tokens = {"BOS": "<|extra_203|>", "EOS": "<|extra_204|>"}
