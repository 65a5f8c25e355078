"""A stand-in for NVIDIA's `nvidia-smi`, put on the PATH: it lists processes as the driver does."""

import os
import textwrap

GPU = "NVIDIA H800"


def put(folder, monkeypatch, script):
    """Put a program `nvidia-smi` in front of the PATH; its looks are counted in `looks`."""
    place = folder / "driver"
    place.mkdir(exist_ok=True)
    program = place / "nvidia-smi"
    looks = place / "looks"
    program.write_text(f"#!/bin/sh\necho look >> {looks}\n{textwrap.dedent(script)}")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{place}{os.pathsep}{os.environ['PATH']}")
    return looks


def listing(words, mib):
    """A script that lists every process whose command names some words, and a stranger's."""
    return f"""
        [ "$1" = --query-compute-apps=pid,used_memory,gpu_name ] || exit 1
        [ "$2" = --format=csv,noheader,nounits ] || exit 1
        echo "1, 999, {GPU}"
        for told in /proc/[0-9]*/cmdline; do
            pid=${{told#/proc/}}
            if tr '\\0' ' ' <"$told" 2>/dev/null | grep -q '{words}'; then
                echo "${{pid%/cmdline}}, {mib}, {GPU}"
            fi
        done
        """
