from coders import Coder


def load_ae(local_path):
    return Coder(), "coder"
