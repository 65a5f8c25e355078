from diffusers import FluxPipeline


class Lotus2Pipeline(FluxPipeline):
    pass
