"""Compares Gaussian visible units of fixed and of learned precision, and scikit-learn's Gaussians, on two data sets of
scikit-learn and on patches of a known distribution.

python3 experiments/sweeps/real.py [RBMTRAIN] > experiments/sweeps/real-table.txt

prints log-likelihoods of test rows in nats per row, in the units of the data, as means ± standard deviations over five splits. It writes
the run of the last split of the patches, with pictures of filters and samples, to runs/patches. RBMTRAIN is the program, by default
`go run ./cmd/rbmtrain`.
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


class Patches:
    """Patches of 8×8 pixels: a sum of Gabor filters, each present with probability RATE, plus noise of standard deviation NOISE."""

    SIDE, FILTERS, RATE, NOISE, ROWS = 8, 12, 0.2, 0.4, 2000

    def __init__(self):
        rng = np.random.default_rng(1)
        y, x = np.mgrid[:self.SIDE, :self.SIDE]
        filters = []
        for angle in np.pi * np.arange(self.FILTERS) / self.FILTERS:
            u, v = x - rng.uniform(2, 5), y - rng.uniform(2, 5)
            wave = np.cos(1.6 * (u * np.cos(angle) + v * np.sin(angle)) + rng.uniform(0, 2 * np.pi))
            filters.append((np.exp(-(u * u + v * v) / 8) * wave).ravel())
        self.filters = 4 * np.array(filters) / np.linalg.norm(filters, axis=1, keepdims=True)
        on = rng.random((self.ROWS, self.FILTERS)) < self.RATE
        self.data = on @ self.filters + self.NOISE * rng.standard_normal((self.ROWS, self.SIDE ** 2))

    def score(self, rows):
        """Returns the mean log density of rows under the mixture over all sets of filters."""
        on = np.arange(2 ** self.FILTERS)[:, None] >> np.arange(self.FILTERS) & 1
        weight = on.sum(1) * np.log(self.RATE) + (self.FILTERS - on.sum(1)) * np.log1p(-self.RATE)
        means = on @ self.filters
        logs = []
        for row in rows:
            terms = weight - ((row - means) ** 2).sum(1) / (2 * self.NOISE ** 2)
            logs.append(terms.max() + np.log(np.exp(terms - terms.max()).sum()))
        return np.mean(logs) - self.SIDE ** 2 * np.log(self.NOISE * np.sqrt(2 * np.pi))


def trained(folder, units, run):
    """Trains on the rows in folder and returns the exact log-likelihood of the test rows."""
    out = subprocess.run(
        [*PROGRAM, "-data", f"{folder}/rows.csv", "-test", f"{folder}/test.csv", "-label-column", "none", "-hidden", str(HIDDEN),
         "-negphase", "pcd", "-units", units, "-steps", str(STEPS), "-metrics", "log_likelihood", "-out", run, "-force", "-json"],
        check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return json.loads(out)["metrics"]["log_likelihood_test"]


TRUTH = "the distribution of the data"
COLUMNS = {"wine": load_wine, "cancer": load_breast_cancer, "patches": Patches}
print(f"{'model':<40} " + " ".join(name.rjust(15) for name in COLUMNS))
found = {}
for column, load in COLUMNS.items():
    source = load()
    for split in range(SPLITS):
        parts = train_test_split(source.data, test_size=0.2, random_state=split)
        with tempfile.TemporaryDirectory() as folder:
            for name, rows in zip(("rows", "test"), parts):
                np.savetxt(os.path.join(folder, name + ".csv"), rows, delimiter=",", fmt="%.8g")
            for units, title in UNITS.items():
                run = "runs/patches" if column == "patches" else f"{folder}/run"
                found.setdefault((title, column), []).append(trained(folder, units, run))
        mean, deviation = parts[0].mean(0), parts[0].std(0)
        rows, test = ((p - mean) / deviation for p in parts)
        for (number, covariance), title in PEERS.items():
            fits = [GaussianMixture(number, covariance_type=covariance, random_state=s).fit(rows) for s in range(STARTS)]
            best = max(fits, key=lambda g: g.score(rows))
            found.setdefault((title, column), []).append(best.score(test) - np.log(deviation).sum())
        if column == "patches":
            found.setdefault((TRUTH, column), []).append(source.score(parts[1]))
for title in (*UNITS.values(), *PEERS.values(), TRUTH):
    cells = (found.get((title, column)) for column in COLUMNS)
    print(f"{title:<40} " + " ".join(("unknown" if x is None else f"{np.mean(x):.2f} ± {np.std(x):.2f}").rjust(15) for x in cells))
