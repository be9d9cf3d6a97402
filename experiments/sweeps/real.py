"""Gaussian visible units of fixed and of learned precision on two data sets of scikit-learn, beside its Gaussians.

python3 experiments/sweeps/real.py [RBMTRAIN] > experiments/sweeps/real-table.txt

prints mean log-likelihoods of test rows in nats a row, in the data's own units, each with the mean and the standard deviation over
five splits. RBMTRAIN is the program, by default `go run ./cmd/rbmtrain`.
"""

import json
import os
import subprocess
import sys
import tempfile

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import train_test_split

PROGRAM = sys.argv[1:] or ["go", "run", "./cmd/rbmtrain"]
UNITS = {"gaussian": "precision 1", "gaussian:precision=learned": "learned precision"}
PEERS = {(8, "diag"): "eight Gaussians of diagonal covariance", (1, "full"): "a Gaussian of full covariance"}
SPLITS, STEPS, HIDDEN, STARTS = 5, 10000, 16, 3


def trained(folder, units):
    """Trains on the rows in folder and returns the exact log-likelihood of the test rows."""
    out = subprocess.run(
        [*PROGRAM, "-data", f"{folder}/rows.csv", "-test", f"{folder}/test.csv", "-label-column", "none", "-hidden", str(HIDDEN),
         "-negphase", "pcd", "-units", units, "-steps", str(STEPS), "-metrics", "log_likelihood", "-out", f"{folder}/run", "-force", "-json"],
        check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return json.loads(out)["metrics"]["log_likelihood_test"]


print(f"{'model':<40} {'wine':>14} {'cancer':>14}")
found = {}
for load in (load_wine, load_breast_cancer):
    for split in range(SPLITS):
        parts = train_test_split(load().data, test_size=0.2, random_state=split)
        with tempfile.TemporaryDirectory() as folder:
            for name, rows in zip(("rows", "test"), parts):
                np.savetxt(os.path.join(folder, name + ".csv"), rows, delimiter=",", fmt="%.8g")
            for units, title in UNITS.items():
                found.setdefault((title, load), []).append(trained(folder, units))
        mean, deviation = parts[0].mean(0), parts[0].std(0)
        rows, test = ((p - mean) / deviation for p in parts)
        for (number, covariance), title in PEERS.items():
            fits = [GaussianMixture(number, covariance_type=covariance, random_state=s).fit(rows) for s in range(STARTS)]
            best = max(fits, key=lambda g: g.score(rows))
            found.setdefault((title, load), []).append(best.score(test) - np.log(deviation).sum())
for title in (*UNITS.values(), *PEERS.values()):
    cells = (found[title, load] for load in (load_wine, load_breast_cancer))
    print(f"{title:<40} " + " ".join(f"{np.mean(x):.2f} ± {np.std(x):.2f}".rjust(14) for x in cells))
