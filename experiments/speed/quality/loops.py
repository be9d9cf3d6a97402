"""Training loops over NumPy and PyTorch for a given processor time.

    python3 loops.py LIBRARY SECONDS SEED ROWS COUNT VISIBLE HIDDEN SETTINGS OUT.npz

LIBRARY is numpy or torch. ROWS is a file of packed rows, each padded to a multiple of 64
bits. SETTINGS is JSON: rate, batch, chains, center, l2, average, start. Both loops train by
persistent contrastive divergence with one step, on minibatches in a new order each epoch.
The rate falls to 0 along half a cosine of the processor time used, and the visible biases
start from the log-odds of the data, the hidden ones from 0, or from -1 if start is "sparse". center is the share by which the offsets of the centred
gradient (Melchior, Fischer & Wiskott 2016) move towards the means of a batch; 0 does not
centre. average is the memory of a moving average of the parameters; 0 takes the last ones.
All numbers are float32, and the loops allocate no matrix. Centring costs no pass over the
weights: its two rank-one terms are two more rows of the product that makes the gradient.
Prints the number of updates and the processor seconds that they took, as JSON.
"""
import json
import math
import sys
import time

library, seconds, seed, rows, count, n, m, settings, out = sys.argv[1:]
seconds, seed, count, n, m = float(seconds), int(seed), int(count), int(n), int(m)

import numpy as np

f32 = np.float32
s = json.loads(settings)
RATE, BATCH, CHAINS, CENTER, L2, AVERAGE = (s[k] for k in ("rate", "batch", "chains", "center", "l2", "average"))
ROWS = BATCH + CHAINS
SD = 0.01
CHECK = 20  # updates between two looks at the clock

packed = np.fromfile(rows, np.uint8).reshape(count, -1)
X = np.unpackbits(packed, axis=1, bitorder="little")[:, :n].astype(f32)
rng = np.random.Generator(np.random.SFC64(seed))
on = X.sum(0, dtype=np.float64)
b = np.log((on + 0.5) / (count - on + 0.5)).astype(f32)
W = (SD * rng.standard_normal((n, m))).astype(f32)
c = np.full(m, -1 if s["start"] == "sparse" else 0, f32)
mu, lam = (on / count).astype(f32), np.full(m, 0.5, f32)
average = [a.copy() for a in (W, b, c)] if AVERAGE else [W, b, c]


def numpy_loop():
    # The last two rows are those of centring, or 0.
    V, P = np.zeros((ROWS + 2, n), f32), np.zeros((ROWS + 2, m), f32)
    H = (rng.random((CHAINS, m), dtype=f32) < 0.5).astype(f32)
    Uv, Uh, D = np.empty((CHAINS, n), f32), np.empty((CHAINS, m), f32), np.empty((n, m), f32)
    A, Q = V[BATCH:ROWS], P[:ROWS]
    used = slice(0, ROWS + 2 if CENTER else ROWS)
    share = np.full(ROWS, 1 / BATCH, f32)
    share[BATCH:] = -1 / CHAINS

    def update(batch, rate):
        np.take(X, batch, axis=0, out=V[:BATCH])
        np.matmul(H, W.T, out=A)
        np.add(A, b, out=A)
        np.negative(A, out=A)
        np.exp(A, out=A)
        np.add(A, 1, out=A)
        rng.random(out=Uv, dtype=f32)
        np.multiply(Uv, A, out=Uv)
        np.less(Uv, 1, out=A)
        np.matmul(V[:ROWS], W, out=Q)
        np.add(Q, c, out=Q)
        np.negative(Q, out=Q)
        np.exp(Q, out=Q)
        np.add(Q, 1, out=Q)
        rng.random(out=Uh, dtype=f32)
        np.multiply(Uh, Q[BATCH:], out=Uh)
        np.less(Uh, 1, out=H)
        np.reciprocal(Q, out=Q)
        if CENTER:
            np.add(mu, f32(CENTER) * (V[:BATCH].mean(0) - mu), out=mu)
            np.add(lam, f32(CENTER) * (Q[:BATCH].mean(0) - lam), out=lam)
        coef = share * f32(rate)
        np.multiply(Q, coef[:, None], out=Q)
        db, dc = coef @ V[:ROWS], Q.sum(0)
        if CENTER:
            V[ROWS], P[ROWS] = mu, -dc
            V[ROWS + 1], P[ROWS + 1] = -db, lam
        np.matmul(V[used].T, P[used], out=D)
        if CENTER:
            db -= D @ lam
            dc -= mu @ D
        if L2:
            np.multiply(W, f32(1 - rate * L2), out=W)
        np.add(W, D, out=W)
        np.add(b, db, out=b)
        np.add(c, dc, out=c)
        if AVERAGE:
            np.multiply(average[0], f32(AVERAGE), out=average[0])
            np.multiply(W, f32(1 - AVERAGE), out=D)
            np.add(average[0], D, out=average[0])
            for a, x in zip(average[1:], (b, c)):
                np.add(a, f32(1 - AVERAGE) * (x - a), out=a)
    return update


def torch_loop():
    import torch
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    torch.manual_seed(seed)
    tX, tW, tb, tc, tmu, tlam = (torch.from_numpy(a) for a in (X, W, b, c, mu, lam))
    averages = [torch.from_numpy(a) for a in average]
    V, P = torch.zeros(ROWS + 2, n), torch.zeros(ROWS + 2, m)
    H = (torch.rand(CHAINS, m) < 0.5).float()
    A, Uv, Uh = torch.empty(CHAINS, n), torch.empty(CHAINS, n), torch.empty(CHAINS, m)
    Q, used = P[:ROWS], slice(0, ROWS + 2 if CENTER else ROWS)
    share = torch.full((ROWS,), 1 / BATCH)
    share[BATCH:] = -1 / CHAINS

    def update(batch, rate):
        torch.index_select(tX, 0, torch.from_numpy(batch), out=V[:BATCH])
        torch.addmm(tb, H, tW.t(), out=A)
        A.sigmoid_()
        torch.lt(Uv.uniform_(), A, out=V[BATCH:ROWS])
        torch.addmm(tc, V[:ROWS], tW, out=Q)
        Q.sigmoid_()
        torch.lt(Uh.uniform_(), Q[BATCH:], out=H)
        if CENTER:
            tmu.lerp_(V[:BATCH].mean(0), CENTER)
            tlam.lerp_(Q[:BATCH].mean(0), CENTER)
        coef = share * rate
        Q.mul_(coef.unsqueeze(1))
        db, dc = V[:ROWS].t().mv(coef), Q.sum(0)
        if CENTER:
            V[ROWS], P[ROWS] = tmu, -dc
            V[ROWS + 1], P[ROWS + 1] = -db, tlam
            db -= V.t().mv(P.mv(tlam))
            dc -= P.t().mv(V.mv(tmu))
        tW.addmm_(V[used].t(), P[used], beta=1 - rate * L2)
        tb.add_(db)
        tc.add_(dc)
        if AVERAGE:
            for a, x in zip(averages, (tW, tb, tc)):
                a.lerp_(x, 1 - AVERAGE)
    return update


update = numpy_loop() if library == "numpy" else torch_loop()
start = time.process_time()
updates, done = 0, 0.0
order, at = rng.permutation(count), 0
while done < 1:
    rate = RATE * (1 + math.cos(math.pi * done)) / 2
    for _ in range(CHECK):
        if at + BATCH > count:
            order, at = rng.permutation(count), 0
        update(order[at:at + BATCH], rate)
        at += BATCH
    updates += CHECK
    done = (time.process_time() - start) / seconds
used = time.process_time() - start
np.savez(out, weights=average[0], visible_bias=average[1], hidden_bias=average[2])
print(json.dumps({"updates": updates, "seconds": used}))
