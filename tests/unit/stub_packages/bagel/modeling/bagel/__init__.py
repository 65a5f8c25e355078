from types import SimpleNamespace


class _Config:
    num_hidden_layers = 27

    @classmethod
    def from_json_file(cls, path):
        found = cls()
        found.path = path
        return found


class Qwen2Config(_Config):
    pass


class SiglipVisionConfig(_Config):
    pass


class BagelConfig:
    def __init__(
        self, visual_gen, visual_und, llm_config, vit_config, vae_config,
        vit_max_num_patch_per_side, connector_act, latent_patch_size, max_latent_size,
    ):  # fmt: skip
        assert llm_config.path.endswith("/llm_config.json") and llm_config.qk_norm
        assert llm_config.layer_module == "Qwen2MoTDecoderLayer"
        assert not llm_config.tie_word_embeddings and not vit_config.rope
        assert (vit_config.num_hidden_layers, vae_config) == (26, "coder")


class Qwen2ForCausalLM:
    def __init__(self, config):
        pass


class SiglipVisionModel:
    def __init__(self, config):
        self.vision_model = SimpleNamespace(embeddings=self)

    def convert_conv2d_to_linear(self, config, meta):
        self.converted = meta


class Bagel:
    def __init__(self, language_model, vit_model, config):
        self.vit_model = vit_model

    def state_dict(self):
        assert self.vit_model.converted
        return dict.fromkeys(["llm", "vit"])

    def eval(self):
        assert self.vit_model.converted
        return self
