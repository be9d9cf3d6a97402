"""Training loops over NumPy and PyTorch, and scikit-learn's BernoulliRBM, for a given processor time.

    python3 loops.py LIBRARY SECONDS SEED ROWS COUNT VISIBLE HIDDEN SETTINGS OUT.npz

LIBRARY is numpy, torch or sklearn. ROWS is a file of packed rows, each padded to a multiple of 64
bits. SETTINGS is JSON: rate, batch, chains, center, l2, average, start, betas. Both loops train by
persistent contrastive divergence with one step, on minibatches in a new order each epoch. With
betas, inverse temperatures from 1 down, the chains are groups that exchange temperatures, and those at 1
are the negative phase; such loops do not centre. scikit-learn draws its first model, and has as many chains as rows in a batch.
The rate falls to 0 along half a cosine of the processor time used, and the visible biases
start from the log-odds of the data, the hidden ones from 0, or from -1 if start is "sparse". center is the share by which the offsets of the centred
gradient (Melchior, Fischer & Wiskott 2016) move towards the means of a batch; 0 does not
centre. average is the memory of a moving average of the parameters; 0 takes the last ones.
All numbers are float32, and the loops allocate no matrix. Centring costs no pass over the
weights: its two rank-one terms are two more rows of the product that makes the gradient.
Prints the number of updates and the processor seconds that they took, as JSON; 0 updates if the
library is not installed.
"""
import json
import math
import sys
import time

library, seconds, seed, rows, count, n, m, settings, out = sys.argv[1:]
seconds, seed, count, n, m = float(seconds), int(seed), int(count), int(n), int(m)

try:
    import numpy as np
    __import__(library)
except ImportError:
    print(json.dumps({"updates": 0, "seconds": 0}))
    sys.exit()

f32 = np.float32
s = json.loads(settings)
RATE, BATCH, CHAINS, CENTER, L2, AVERAGE = (s[k] for k in ("rate", "batch", "chains", "center", "l2", "average"))
BETAS = s.get("betas")
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


class Ladder:
    """Groups of chains, one for each temperature, that exchange temperatures."""

    def __init__(self):
        self.betas = np.array(BETAS, f32)
        self.groups = CHAINS // len(BETAS)
        self.beta = np.tile(self.betas, self.groups)  # of each row
        self.rows = np.arange(CHAINS).reshape(self.groups, -1)  # row at each temperature

    def swap(self, E):
        """Tries the pairs of neighbours in turn, from the coldest, and returns the rows at 1."""
        for k in range(len(self.betas) - 1):
            i, j = self.rows[:, k].copy(), self.rows[:, k + 1].copy()
            d = (self.betas[k] - self.betas[k + 1]) * (E[i] - E[j])
            yes = rng.random(self.groups, dtype=f32) < np.exp(np.minimum(d, 0))
            self.rows[:, k], self.rows[:, k + 1] = np.where(yes, j, i), np.where(yes, i, j)
            self.beta[self.rows[:, k]], self.beta[self.rows[:, k + 1]] = self.betas[k], self.betas[k + 1]
        return self.rows[:, 0]


def numpy_ladder():
    ladder = Ladder()
    V, P = np.zeros((ROWS, n), f32), np.zeros((ROWS, m), f32)
    H = (rng.random((CHAINS, m), dtype=f32) < 0.5).astype(f32)
    Uv, Uh, T, D = np.empty((CHAINS, n), f32), np.empty((CHAINS, m), f32), np.empty((CHAINS, m), f32), np.empty((n, m), f32)
    A = V[BATCH:]
    share = np.repeat(f32([1 / BATCH, -1 / ladder.groups]), [BATCH, ladder.groups])

    def update(batch, rate):
        np.take(X, batch, axis=0, out=V[:BATCH])
        np.matmul(H, W.T, out=A)
        np.add(A, b, out=A)
        np.multiply(A, -ladder.beta[:, None], out=A)
        np.exp(A, out=A)
        np.add(A, 1, out=A)
        rng.random(out=Uv, dtype=f32)
        np.multiply(Uv, A, out=Uv)
        np.less(Uv, 1, out=A)
        np.matmul(V, W, out=P)
        np.add(P, c, out=P)
        np.negative(P, out=P)
        np.multiply(P[BATCH:], ladder.beta[:, None], out=T)
        np.exp(T, out=T)
        np.add(T, 1, out=T)
        rng.random(out=Uh, dtype=f32)
        np.multiply(Uh, T, out=Uh)
        np.less(Uh, 1, out=H)
        E = np.einsum("ij,ij->i", H, P[BATCH:]) - A @ b
        rows = np.concatenate([np.arange(BATCH), BATCH + ladder.swap(E)])
        v, q = V[rows], P[rows]
        np.exp(q, out=q)
        np.add(q, 1, out=q)
        np.reciprocal(q, out=q)
        coef = share * f32(rate)
        np.multiply(q, coef[:, None], out=q)
        np.matmul(v.T, q, out=D)
        np.add(W, D, out=W)
        np.add(b, coef @ v, out=b)
        np.add(c, q.sum(0), out=c)
    return update


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


def torch_ladder():
    ladder = Ladder()
    tX, tW, tb, tc = (torch.from_numpy(a) for a in (X, W, b, c))
    V, P = torch.zeros(ROWS, n), torch.zeros(ROWS, m)
    H = (torch.rand(CHAINS, m) < 0.5).float()
    A, Uv, Uh, T = torch.empty(CHAINS, n), torch.empty(CHAINS, n), torch.empty(CHAINS, m), torch.empty(CHAINS, m)
    beta = torch.from_numpy(ladder.beta).unsqueeze(1)  # shares the memory that swaps change
    share = torch.cat([torch.full((BATCH,), 1 / BATCH), torch.full((ladder.groups,), -1 / ladder.groups)])

    def update(batch, rate):
        torch.index_select(tX, 0, torch.from_numpy(batch), out=V[:BATCH])
        torch.addmm(tb, H, tW.t(), out=A)
        A.mul_(beta).sigmoid_()
        torch.lt(Uv.uniform_(), A, out=V[BATCH:])
        torch.addmm(tc, V, tW, out=P)
        torch.mul(P[BATCH:], beta, out=T)
        T.sigmoid_()
        torch.lt(Uh.uniform_(), T, out=H)
        E = -(torch.mul(H, P[BATCH:], out=T).sum(1) + V[BATCH:] @ tb)
        rows = torch.from_numpy(np.concatenate([np.arange(BATCH), BATCH + ladder.swap(E.numpy())]))
        v, q = V[rows], P[rows].sigmoid_()
        coef = share * rate
        q.mul_(coef.unsqueeze(1))
        tW.addmm_(v.t(), q)
        tb.add_(v.t().mv(coef))
        tc.add_(q.sum(0))
    return update


def torch_loop():
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


def scikit_learn():
    """Fits as many updates at once as fit into the time. Returns their number and seconds without those of a fit of one batch."""
    from sklearn.neural_network import BernoulliRBM

    def fit(count):
        rbm = BernoulliRBM(m, learning_rate=RATE, batch_size=BATCH, n_iter=1, random_state=seed)
        start = time.process_time()
        rbm.fit(X[:count * BATCH])
        return time.process_time() - start, rbm
    once = min(fit(1)[0] for _ in range(3))
    some = min(100, count // BATCH)
    updates = max(2, min(count // BATCH, int(some * seconds / max(fit(some)[0] - once, 1e-3))))
    used, rbm = fit(updates)
    np.savez(out, weights=rbm.components_.T.astype(f32), visible_bias=rbm.intercept_visible_.astype(f32), hidden_bias=rbm.intercept_hidden_.astype(f32))
    print(json.dumps({"updates": updates - 1, "seconds": used - once}))
    sys.exit()


if library == "sklearn":
    scikit_learn()
if library == "torch":
    import torch
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    torch.manual_seed(seed)
    update = torch_ladder() if BETAS else torch_loop()
else:
    update = numpy_ladder() if BETAS else numpy_loop()
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
