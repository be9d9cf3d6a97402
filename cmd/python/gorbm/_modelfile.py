"""Model files of the programs."""

import json
import os

import numpy as np


def read(path):
    """Return the arrays and the metadata of a model: of a .safetensors file, or of the folder of a run."""
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
        weights, visible, hidden = arrays["weights"], arrays["visible_bias"], arrays["hidden_bias"]
    except (ValueError, KeyError, TypeError) as e:
        raise ValueError(f"{path} is not a model of gorbm: {e}") from None
    if about.get("version", "1") != "1":
        raise ValueError(f"{path} has a constraint or units of other kinds than bits, which this package cannot read; take rbmeval and rbmsample")
    return weights, visible, hidden, about
