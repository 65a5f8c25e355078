from . import functional  # noqa: F401


class Module:
    """Knows the names of its tensors, and hands what it makes to its hooks."""

    tensors = ()

    def register_forward_hook(self, hook):
        self.__dict__.setdefault("hooks", []).append(hook)

    def __call__(self, *arguments, **options):
        made = self.forward(*arguments, **options)
        for hook in self.__dict__.get("hooks", ()):
            assert hook(self, arguments, made) is None
        return made

    def state_dict(self):
        return dict.fromkeys(self.tensors)

    def load_state_dict(self, state, strict=True):
        missing = set(self.tensors) - set(state)
        if strict and (missing or set(state) - set(self.tensors)):
            raise RuntimeError(f"Error(s) in loading state_dict: Missing key(s): {missing}")
