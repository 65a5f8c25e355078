def convert_unet_state_dict_to_peft(state_dict):
    return {key.replace("lora.up", "lora_B"): tensor for key, tensor in state_dict.items()}
