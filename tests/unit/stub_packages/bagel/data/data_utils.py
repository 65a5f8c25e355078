def add_special_tokens(tokenizer):
    return tokenizer + " and ids", {"bos": 0}, 1
