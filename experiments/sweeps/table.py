"""Compares levels with Gaussian units for the numbers of a table, on wine of scikit-learn and on rows of a known distribution.

python3 experiments/sweeps/table.py [FOLDER] > experiments/sweeps/table-table.txt

FOLDER has the programs rbmtrain, rbmeval and rbmsample; by default they are built. Each cell is the mean ± standard deviation over five splits, or over
five seeds of the generated rows:
- log p: the mean log-likelihood of test rows in nats, with densities of numbers in the units of the column. A level is a constant density between its
  edges; the outer levels end at the last training value, and continue beyond it;
- error: the root mean square error of a fifth of the numbers of the test rows, filled by their means given the other cells, in standard
  deviations of the column;
- log loss: the mean −log p of a fifth of their categories, given the other cells, in nats.
"""

import csv
import json
import os
import struct
import subprocess
import sys
import tempfile

import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

HIDDEN, SPLITS, MASKED = "16", 5, 0.2
STEPS = {"wine": "2272", "survey": "20000"}  # for Gaussian units, at most 800 passes; for levels the preset decides
WAYS = {
    "levels": ["-numbers", "levels"],
    "gaussian, precision 1": ["-numbers", "gaussian", "-rate", "0.05", "-units", "gaussian"],
    "gaussian": ["-numbers", "gaussian", "-rate", "0.05"],
}


def wine(split):
    """Twelve numbers, the hue as a bit, and the cultivar as a word."""
    data = load_wine()
    names = list(data.feature_names)
    hue = names.index("hue")
    rows = [
        [f"{x:.8g}" for x in np.delete(r, hue)] + ["high" if r[hue] > 1 else "low", data.target_names[y]]
        for r, y in zip(data.data, data.target)
    ]
    header = names[:hue] + names[hue + 1:] + ["hue", "cultivar"]
    parts = train_test_split(rows, test_size=0.2, random_state=split)
    return header, *parts


def survey(split):
    """Independent rows of three kinds with different mean height, weight and age. A bit depends on the age, and a colour on the bit."""
    r = np.random.default_rng(split)
    means = {"a": (170, 70, 40), "b": (150, 50, 25), "c": (185, 95, 60)}
    rows = []
    for _ in range(3000):
        kind = r.choice(list(means), p=[0.5, 0.3, 0.2])
        size = r.normal()
        height = means[kind][0] + 8 * (0.8 * size + 0.6 * r.normal())
        weight = means[kind][1] + 10 * (0.8 * size + 0.6 * r.normal())
        age = means[kind][2] + 10 * r.normal()
        member = r.random() < 1 / (1 + np.exp((40 - age) / 10))
        colour = r.choice(["red", "green", "blue"], p=[0.6, 0.2, 0.2] if member else [0.2, 0.2, 0.6])
        rows.append([kind, f"{height:.2f}", f"{weight:.2f}", f"{age:.2f}", "yes" if member else "no", colour])
    return ["kind", "height", "weight", "age", "member", "colour"], rows[:2000], rows[2000:]


def true_log_p(rows):
    """The mean log density of survey's rows."""
    means = {"a": (170, 70, 40), "b": (150, 50, 25), "c": (185, 95, 60)}
    total, rho = 0.0, 0.64
    for kind, height, weight, age, member, colour in rows:
        h, w, a = (float(x) - m for x, m in zip((height, weight, age), means[kind]))
        q = (h * h / 64 - 2 * rho * h * w / 80 + w * w / 100) / (1 - rho * rho)
        yes = 1 / (1 + np.exp((40 - float(age)) / 10))
        total += np.log({"a": 0.5, "b": 0.3, "c": 0.2}[kind]) - np.log(2 * np.pi * 80 * np.sqrt(1 - rho * rho)) - q / 2
        total += -((a / 10) ** 2) / 2 - np.log(10 * np.sqrt(2 * np.pi)) + np.log(yes if member == "yes" else 1 - yes)
        total += np.log({"red": 0.6, "green": 0.2, "blue": 0.2}[colour] if member == "yes" else {"red": 0.2, "green": 0.2, "blue": 0.6}[colour])
    return total / len(rows)


def write(path, header, rows):
    with open(path, "w", newline="") as f:
        csv.writer(f).writerows([header, *rows])


def read(path):
    with open(path, newline="") as f:
        return list(csv.DictReader(f))


def schema(path):
    """The schema in the metadata of a safetensors file."""
    with open(path, "rb") as f:
        size = struct.unpack("<Q", f.read(8))[0]
        return json.loads(json.loads(f.read(size))["__metadata__"]["schema"])


def widths(columns, header, rows, test):
    """Σ log width of the levels of the numbers of a test row, averaged."""
    total = 0.0
    for c in columns:
        if "edges" not in c:
            continue
        at = header.index(c["name"])
        known = [float(r[at]) for r in rows]
        edges = [min(known), *c["edges"], max(known) if max(known) > c["edges"][-1] else c["edges"][-1] + np.std(known)]
        for r in test:
            k = int(np.searchsorted(c["edges"], float(r[at]), side="right"))
            total += np.log(edges[k + 1] - edges[k])
    return total / len(test)


def numeric(word):
    try:
        float(word)
    except ValueError:
        return False
    return True


def measure(programs, folder, header, rows, test, flags, key):
    """Returns log p, the error and the log loss of a way."""
    def call(program, *args):
        done = subprocess.run([os.path.join(programs, program), *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        return done.stdout

    run = os.path.join(folder, "run")
    out = call("rbmtrain", "-data", f"{folder}/rows.csv", "-test", f"{folder}/test.csv", "-label-column", "none", "-hidden", HIDDEN, "-negphase", "pcd",
               "-metrics", "log_likelihood", "-out", run, "-force", "-json", *flags)
    log_p = json.loads(out)["metrics"]["log_likelihood_test"]
    log_p -= widths(schema(f"{run}/model.safetensors")["columns"], header, rows, test)
    r = np.random.default_rng(key)
    masked = [[x if keep else "" for x, keep in zip(row, r.random(len(row)) > MASKED)] for row in test]
    write(f"{folder}/masked.csv", header, masked)
    for name in ("filled.csv", "filled.probabilities.csv"):
        if os.path.exists(f"{folder}/{name}"):
            os.remove(f"{folder}/{name}")
    call("rbmsample", "-model", run, "-fill", f"{folder}/masked.csv", "-fill-by", "mean", "-out", f"{folder}/filled.csv", "-quiet")
    filled = read(f"{folder}/filled.csv")
    squares, losses = [], []
    p = {(int(x["row"]), x["column"], x["level"]): float(x["p"]) for x in read(f"{folder}/filled.probabilities.csv")}
    for i, (row, gaps) in enumerate(zip(test, masked)):
        for name, x, gap in zip(header, row, gaps):
            if gap:
                continue
            if numeric(x):
                squares.append(((float(filled[i][name]) - float(x)) / np.std([float(r[header.index(name)]) for r in rows])) ** 2)
            else:
                losses.append(-np.log(p[i, name, x]))
    return log_p, np.sqrt(np.mean(squares)), np.mean(losses)


def main():
    with tempfile.TemporaryDirectory() as folder:
        programs = sys.argv[1] if len(sys.argv) > 1 else folder
        if len(sys.argv) < 2:
            for name in ("rbmtrain", "rbmsample"):
                subprocess.run(["go", "build", "-o", folder, "./cmd/" + name], check=True)
        print(f"{'rows, numbers as':<32} {'log p':>16} {'error':>14} {'log loss':>14}")
        for load in (wine, survey):
            found, truth = {}, []
            for split in range(SPLITS):
                header, rows, test = load(split)
                write(f"{folder}/rows.csv", header, rows)
                write(f"{folder}/test.csv", header, test)
                for title, flags in WAYS.items():
                    if title != "levels":
                        flags = [*flags, "-steps", STEPS[load.__name__]]
                    found.setdefault(title, []).append(measure(programs, folder, header, rows, test, flags, split))
                if load is survey:
                    truth.append(true_log_p(test))
            for title, x in found.items():
                mean, deviation = np.mean(x, 0), np.std(x, 0)
                cells = [f"{a:.{d}f} ± {b:.{d}f}" for a, b, d in zip(mean, deviation, (2, 3, 3))]
                print(f"{load.__name__ + ', ' + title:<32} {cells[0]:>16} {cells[1]:>14} {cells[2]:>14}", flush=True)
            if truth:
                print(f"{load.__name__ + ', their distribution':<32} {f'{np.mean(truth):.2f} ± {np.std(truth):.2f}':>16}", flush=True)


main()
