"""Reads model files of rbmtrain."""

import json
import os

import numpy as np


def read(path):
    """Return the arrays and the metadata of a model. path is a .safetensors file, or the folder of a run.

    "groups" of the metadata has the kinds of the inputs, or "" if all are bits.
    """
    if os.path.isdir(path):
        path = os.path.join(path, "model.safetensors")
    with open(path, "rb") as f:
        data = f.read()
    size = int.from_bytes(data[:8], "little")
    try:
        header = json.loads(data[8 : 8 + size])
        about = header.pop("__metadata__", {})
        arrays = {}
        for name, t in header.items():
            if t["dtype"] != "F32":
                raise ValueError(f"{name} holds {t['dtype']}, not F32")
            lo, hi = t["data_offsets"]
            arrays[name] = np.frombuffer(data[8 + size :][lo:hi], "<f4").reshape(t["shape"])
        for name in ("weights", "visible_bias", "hidden_bias"):
            arrays[name]
    except (ValueError, KeyError, TypeError) as e:
        raise ValueError(f"{path} is not a model of gorbm: {e}") from None
    version = about.get("version", "1")
    if version == "2":
        raise ValueError(f"{path} has a constraint, which this package cannot read; use rbmeval and rbmsample")
    if version == "4":
        raise ValueError(f"{path} has {about.get('hidden_units')} hidden units, which this package cannot read; use rbmeval and rbmsample")
    groups = [g for g in about.get("groups", "").split() if not g.endswith(":label")]
    kinds = {g.split(":")[0] for g in groups}
    if version not in ("1", "3") or kinds - {"bernoulli", "softmax", "gaussian"}:
        raise ValueError(f"{path} has units of kinds that this package does not know; use rbmeval and rbmsample")
    about["groups"] = " ".join(groups) if kinds - {"bernoulli"} else ""
    return arrays, about
