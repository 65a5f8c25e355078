def build_image(image, cfg, tokenizer, vq_model):
    assert (image.mode, cfg.image_area, vq_model) == ("RGB", 1048576, "decoder")
    return f"[picture {image.width}*{image.height}]"
