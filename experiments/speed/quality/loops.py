"""Training loops of the peers for as much processor time as is asked for.

    python3 loops.py LIBRARY SECONDS SEED ROWS COUNT VISIBLE HIDDEN OUT.npz

LIBRARY is numpy, torch or sklearn. ROWS is a file of packed rows, each padded to a
multiple of 64 bits. numpy and torch have the settings of rbmtrain's generative preset:
persistent contrastive divergence with one step, minibatches of 20 in a new order each
epoch, 50 chains, a rate that falls from 0.05 to 0 on a line, here in processor time, and
visible biases that start from the log-odds of the data. All numbers are float32, and
nothing is allocated in the loops. scikit-learn has its own settings and nothing to fall.
Prints the number of updates and the processor seconds that they took, as JSON.
"""
import json
import sys
import time

library, seconds, seed, rows, count, n, m, out = sys.argv[1:]
seconds, seed, count, n, m = float(seconds), int(seed), int(count), int(n), int(m)

import numpy as np

f32 = np.float32
BATCH, CHAINS, RATE, SD = 20, 50, 0.05, 0.01
CHECK = 50  # updates between two looks at the clock

packed = np.fromfile(rows, np.uint8).reshape(count, -1)
X = np.unpackbits(packed, axis=1, bitorder="little")[:, :n].astype(f32)
rng = np.random.Generator(np.random.SFC64(seed))
on = X.sum(0, dtype=np.float64)
b = np.log((on + 0.5) / (count - on + 0.5)).astype(f32)
W = (SD * rng.standard_normal((n, m))).astype(f32)
c = np.zeros(m, f32)


def numpy_loop():
    V, P = np.zeros((BATCH + CHAINS, n), f32), np.zeros((BATCH + CHAINS, m), f32)
    H = (rng.random((CHAINS, m), dtype=f32) < 0.5).astype(f32)
    Uv, Uh, D = np.empty((CHAINS, n), f32), np.empty((CHAINS, m), f32), np.empty((n, m), f32)
    share = np.full(BATCH + CHAINS, 1 / BATCH, f32)
    share[BATCH:] = -1 / CHAINS

    def update(batch, rate):
        np.take(X, batch, axis=0, out=V[:BATCH])
        A = V[BATCH:]
        np.matmul(H, W.T, out=A)
        np.add(A, b, out=A)
        np.negative(A, out=A)
        np.exp(A, out=A)
        np.add(A, 1, out=A)
        rng.random(out=Uv, dtype=f32)
        np.multiply(Uv, A, out=Uv)
        np.less(Uv, 1, out=A)
        np.matmul(V, W, out=P)
        np.add(P, c, out=P)
        np.negative(P, out=P)
        np.exp(P, out=P)
        np.add(P, 1, out=P)
        rng.random(out=Uh, dtype=f32)
        np.multiply(Uh, P[BATCH:], out=Uh)
        np.less(Uh, 1, out=H)
        np.reciprocal(P, out=P)
        coef = share * f32(rate)
        np.multiply(P, coef[:, None], out=P)
        np.matmul(V.T, P, out=D)
        np.add(W, D, out=W)
        np.add(b, coef @ V, out=b)
        np.add(c, P.sum(0), out=c)
    return update


def torch_loop():
    import torch
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    torch.manual_seed(seed)
    tX, tW, tb, tc = (torch.from_numpy(a) for a in (X, W, b, c))
    V, P = torch.zeros(BATCH + CHAINS, n), torch.zeros(BATCH + CHAINS, m)
    H = (torch.rand(CHAINS, m) < 0.5).float()
    A, Uv, Uh = torch.empty(CHAINS, n), torch.empty(CHAINS, n), torch.empty(CHAINS, m)
    share = torch.full((BATCH + CHAINS,), 1 / BATCH)
    share[BATCH:] = -1 / CHAINS

    def update(batch, rate):
        torch.index_select(tX, 0, torch.from_numpy(batch), out=V[:BATCH])
        torch.addmm(tb, H, tW.t(), out=A)
        A.sigmoid_()
        torch.lt(Uv.uniform_(), A, out=V[BATCH:])
        torch.addmm(tc, V, tW, out=P)
        P.sigmoid_()
        torch.lt(Uh.uniform_(), P[BATCH:], out=H)
        coef = share * rate
        P.mul_(coef.unsqueeze(1))
        tW.addmm_(V.t(), P)
        tb.addmv_(V.t(), coef)
        tc.add_(P.sum(0))
    return update


class Enough(Exception):
    """The time is up."""


def own():
    """scikit-learn's own fit, of float32: batches of 10 in the order of the rows, 0.1. It is
    stopped before the first update after its time; partial_fit would compute in float64."""
    from sklearn.neural_network import BernoulliRBM
    model = BernoulliRBM(n_components=m, random_state=seed, n_iter=10**9)
    fit, updates = model._fit, 0
    start = time.process_time()

    def update(batch, random):
        nonlocal updates
        if time.process_time() - start >= seconds:
            raise Enough
        fit(batch, random)
        updates += 1
    model._fit = update
    try:
        model.fit(X)
    except Enough:
        pass
    used = time.process_time() - start
    assert model.components_.dtype == f32
    np.savez(out, components_=model.components_, intercept_hidden_=model.intercept_hidden_,
             intercept_visible_=model.intercept_visible_)
    print(json.dumps({"updates": updates, "seconds": used}))


def loop(update):
    start = time.process_time()
    updates, done = 0, 0.0
    order, at = rng.permutation(count), 0
    while done < 1:
        rate = RATE * (1 - done)
        for _ in range(CHECK):
            if at + BATCH > count:
                order, at = rng.permutation(count), 0
            update(order[at:at + BATCH], rate)
            at += BATCH
        updates += CHECK
        done = (time.process_time() - start) / seconds
    np.savez(out, weights=W, visible_bias=b, hidden_bias=c)
    print(json.dumps({"updates": updates, "seconds": time.process_time() - start}))


if library == "sklearn":
    own()
else:
    loop(numpy_loop() if library == "numpy" else torch_loop())
