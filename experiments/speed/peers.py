"""The peers of the race: scikit-learn's training, and hand-tuned loops over NumPy
and PyTorch. This child process reads one JSON request per line and answers with a
line. serve.go does the same for gorbm.

    python3 peers.py LIBRARY THREADS POOL

LIBRARY is numpy, torch or sklearn. THREADS is the number of threads of PyTorch;
that of the BLAS is set in the environment. POOL is the number of Python threads that
divide independent work. All numbers are float32. The loops of updates allocate no
arrays.
"""
import json
import math
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor

signal.signal(signal.SIGINT, signal.SIG_IGN)  # on Ctrl-C the race ends its children
library, threads, pool_size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])

import numpy as np

try:  # for products that are added to the weights in place
    from scipy.linalg import blas
except ImportError:
    blas = None
if library == "torch":
    import torch
    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
if library == "sklearn":
    import sklearn
    from sklearn.neural_network import BernoulliRBM

f32 = np.float32
pool = ThreadPoolExecutor(pool_size)


def parts(n):
    """Divides 0 … n−1 into one range for each thread of the pool."""
    cut = [n * i // pool_size for i in range(pool_size + 1)]
    return list(zip(cut[:-1], cut[1:]))


def shared(work, n):
    """Returns the results of work(lo, hi) for the ranges of parts(n), in order."""
    if pool_size == 1:
        return [work(0, n)]
    return list(pool.map(lambda p: work(*p), parts(n)))


def fastest(ways):
    """Returns the fastest of several ways to do the same, by the least of seven times."""
    def least(way):
        times = []
        for _ in range(7):
            start = time.perf_counter()
            way()
            times.append(time.perf_counter() - start)
        return min(times)
    return min(ways, key=least)


class Problem:
    """The data and the model of a job."""

    def __init__(self, job):
        self.n, self.m = n, m = job["visible"], job["hidden"]
        classes = job.get("classes", 0)
        p = np.fromfile(job["model"], f32)
        self.W = p[:n * m].reshape(n, m).copy()
        self.b, self.c = p[n * m:n * m + n].copy(), p[n * m + n:n * m + n + m].copy()
        self.X = None
        self.gaussian = job.get("gaussian", False)
        if self.gaussian:
            self.X = np.fromfile(job["data"], f32).reshape(-1, n)
        elif job.get("rows"):
            packed = np.fromfile(job["data"], np.uint8).reshape(job["rows"], -1)
            x = np.unpackbits(packed, axis=1, bitorder="little")[:, :n - classes]
            self.X = np.ascontiguousarray(x, f32)


# ---- updates: PCD-1, parallel tempering, infinite swapping ----

def permutations(k):
    if k == 0:
        return [[]]
    return [p[:i] + [k - 1] + p[i:] for p in permutations(k - 1) for i in range(k)]


class Ladder:
    """Groups of chains, one chain per temperature, that exchange temperatures."""

    def __init__(self, kind, groups, betas, rng):
        self.kind, self.groups, self.k, self.rng = kind, groups, len(betas), rng
        self.betas = np.array(betas, f32)
        self.beta = np.tile(self.betas, groups)  # β of each row
        self.rows = np.arange(groups * self.k).reshape(groups, self.k)  # row at each temperature
        self.group = np.arange(groups)
        if kind == "ins":
            sigma = np.array(permutations(self.k))
            self.assign = self.betas[sigma]  # β of each particle under each permutation
            self.cold = (sigma == 0).astype(f32)
            self.minus = np.ascontiguousarray(-self.assign.T)

    def swap(self, E):
        """Tries the pairs of neighbours in turn, from the coldest."""
        for k in range(self.k - 1):
            a, b = self.rows[:, k].copy(), self.rows[:, k + 1].copy()
            d = (self.betas[k] - self.betas[k + 1]) * (E[a] - E[b])
            u = self.rng.random(self.groups, dtype=f32)
            yes = u < np.exp(np.minimum(d, 0))
            self.rows[:, k], self.rows[:, k + 1] = np.where(yes, b, a), np.where(yes, a, b)
            self.beta[self.rows[:, k]], self.beta[self.rows[:, k + 1]] = self.betas[k], self.betas[k + 1]
        return self.rows[:, 0]

    def weigh(self, E):
        """Returns the probabilities of all permutations given the energies, and the particles' weights."""
        rho = E.reshape(self.groups, self.k) @ self.minus
        rho -= rho.max(1, keepdims=True)
        np.exp(rho, out=rho)
        rho /= rho.sum(1, keepdims=True)
        return rho, rho @ self.cold

    def reassign(self, E):
        """Draws a permutation for each group, and returns the particles' weights."""
        rho, weights = self.weigh(E)
        u = self.rng.random((self.groups, 1), dtype=f32)
        drawn = np.minimum((rho.cumsum(1) < u).sum(1), len(rho[0]) - 1)
        self.beta = self.assign[drawn].ravel()
        return weights.ravel()


class NumpyUpdate:
    """An update draws v ~ p(v|h) for the chains, computes p(h|v) of data and chains in
    one product, draws h, and computes the gradient of both phases in one product."""

    def __init__(self, job, seed):
        p = Problem(job)
        self.X, self.W, self.B = p.X, p.W, job["batch"]
        self.mb, self.mc = -p.b, -p.c  # negative biases, for exp(−x)
        self.C, self.rate = job["chains"] * len(job.get("betas") or [1]), job["rate"]
        rng = self.rng = np.random.Generator(np.random.SFC64(seed))
        self.V = np.zeros((self.B + self.C, p.n), f32)
        self.P = np.zeros((self.B + self.C, p.m), f32)
        self.H = (rng.random((self.C, p.m), dtype=f32) < 0.5).astype(f32)
        self.Uv, self.Uh = np.empty((self.C, p.n), f32), np.empty((self.C, p.m), f32)
        self.ladder = None
        if job["kind"] != "pcd":
            self.ladder = Ladder(job["kind"], job["chains"], job["betas"], rng)
            self.T = np.empty((self.C, p.m), f32)
        self.coef = np.full(self.B + self.C, self.rate / self.B, f32)
        self.coef[self.B:] = -self.rate / self.C
        self.t, self.gaussian = 0, p.gaussian
        self.tune()

    def tune(self):
        G, D = np.zeros_like(self.P), np.empty_like(self.W)

        def product(V, G):
            np.matmul(V.T, G, out=D)
            np.add(self.W, D, out=self.W)

        def in_place(V, G):
            blas.sgemm(1, G.T, V.T, 1, self.W.T, trans_b=1, overwrite_c=1)
        ways = [product] + ([in_place] if blas else [])
        self.ascend = fastest([lambda w=w: w(self.V, G) or w for w in ways])()  # G is zero, so W does not change

    def step(self):
        B, V, P, W, H = self.B, self.V, self.P, self.W, self.H
        lo = self.t % (len(self.X) // B) * B
        self.t += 1
        V[:B] = self.X[lo:lo + B]
        A, ladder = V[B:], self.ladder
        np.matmul(H, W.T, out=A)
        if self.gaussian:
            A -= self.mb
            self.rng.standard_normal(out=self.Uv, dtype=f32)
            A += self.Uv
        else:
            np.subtract(self.mb, A, out=A)
            if ladder:
                A *= ladder.beta[:, None]
            np.exp(A, out=A)
            A += 1
            self.rng.random(out=self.Uv, dtype=f32)
            np.multiply(self.Uv, A, out=self.Uv)
            np.less(self.Uv, 1, out=A)
        np.matmul(V, W, out=P)
        np.subtract(self.mc, P, out=P)
        self.rng.random(out=self.Uh, dtype=f32)
        if ladder:
            np.multiply(P[B:], ladder.beta[:, None], out=self.T)
            np.exp(self.T, out=self.T)
            self.T += 1
            self.Uh *= self.T
            np.less(self.Uh, 1, out=H)
            E = np.einsum("ij,ij->i", H, P[B:]) + A @ self.mb
        np.exp(P, out=P)
        P += 1
        if not ladder:
            self.Uh *= P[B:]
            np.less(self.Uh, 1, out=H)
        np.reciprocal(P, out=P)
        coef = self.coef
        if ladder and ladder.kind == "pt":
            rows = np.concatenate([np.arange(B), B + ladder.swap(E)])
            V, P, coef = V[rows], P[rows], np.repeat(f32([self.rate / B, -self.rate / ladder.groups]), [B, ladder.groups])
        elif ladder:
            coef[B:] = ladder.reassign(E)
            coef[B:] *= -self.rate / ladder.groups
        P *= coef[:, None]
        self.ascend(V, P)
        self.mb -= coef @ V
        self.mc -= P.sum(0)

    def parameters(self):
        return self.W, -self.mb


class TorchUpdate:
    """The same with PyTorch. Swaps and their weights are small, and computed by NumPy in
    shared memory."""

    def __init__(self, job, seed):
        p = Problem(job)
        self.X, self.W, self.b, self.c = (torch.from_numpy(a) for a in (p.X, p.W, p.b, p.c))
        self.B, self.C, self.rate = job["batch"], job["chains"] * len(job.get("betas") or [1]), job["rate"]
        torch.manual_seed(seed)
        self.rng = np.random.Generator(np.random.SFC64(seed))
        self.V = torch.zeros(self.B + self.C, p.n)
        self.P = torch.zeros(self.B + self.C, p.m)
        self.H = (torch.rand(self.C, p.m) < 0.5).float()
        self.U = torch.empty(self.C * max(p.n, p.m))
        self.ladder = None
        if job["kind"] != "pcd":
            self.ladder = Ladder(job["kind"], job["chains"], job["betas"], self.rng)
            self.T = torch.empty(self.C, p.m)
        self.q, self.gaussian = job.get("states", 0), p.gaussian
        self.coef = torch.full((self.B + self.C,), self.rate / self.B)
        self.coef[self.B:] = -self.rate / self.C
        self.t = 0
        self.tune()

    def tune(self):
        G, D = torch.zeros_like(self.P), torch.empty_like(self.W)

        def product(V, G):
            torch.mm(V.t(), G, out=D)
            self.W.add_(D)

        def in_place(V, G):
            self.W.addmm_(V.t(), G)
        self.ascend = fastest([lambda w=w: w(self.V, G) or w for w in (product, in_place)])()
        A = torch.zeros_like(self.V[self.B:])

        def own(p, out):
            out.uniform_().lt_(p)

        def numpys(p, out):
            self.rng.random(out=out.numpy(), dtype=f32)
            out.lt_(p)

        def bernoulli(p, out):
            torch.bernoulli(p, out=out)
        room = self.U[:A.numel()].view_as(A)
        self.draw = fastest([lambda w=w: w(A, room) or w for w in (own, numpys, bernoulli)])()

        def own_normal(out):
            out.normal_()

        def numpys_normal(out):
            self.rng.standard_normal(out=out.numpy(), dtype=f32)
        self.normal = fastest([lambda w=w: w(room) or w for w in (own_normal, numpys_normal)])()

        q, L = self.q, len(self.b) // max(self.q, 1)

        def relative(z):
            z = z.view(self.C, L, q)
            return z.sub_(z.amax(2, keepdim=True)).exp_()

        def choose(k, out):
            out.zero_()
            out.view(self.C, L, q).scatter_(2, k, 1.)

        def sums(z, out):
            upto = relative(z).cumsum(2)
            u = torch.rand(self.C, L, 1) * upto[:, :, -1:]
            choose((upto < u).sum(2, keepdim=True), out)

        def search(z, out):
            upto = relative(z).cumsum(2)
            u = torch.rand(self.C, L, 1) * upto[:, :, -1:]
            choose(torch.searchsorted(upto, u).clamp_(max=q - 1), out)

        def race(z, out):  # the smallest of exponential times is a categorical draw
            z = relative(z)
            choose(z.div_(torch.empty_like(z).exponential_()).argmax(2, keepdim=True), out)

        def multinomial(z, out):
            choose(torch.multinomial(relative(z).view(-1, q), 1).view(self.C, L, 1), out)
        if q:
            self.states = fastest([lambda w=w: w(room.zero_(), A) or w for w in (sums, search, race, multinomial)])()

    def step(self):
        B, V, P, W, H = self.B, self.V, self.P, self.W, self.H
        lo = self.t % (len(self.X) // B) * B
        self.t += 1
        V[:B] = self.X[lo:lo + B]
        A, ladder = V[B:], self.ladder
        p = torch.addmm(self.b, H, W.t(), out=A if self.gaussian else self.U[:A.numel()].view_as(A))
        if ladder:
            beta = torch.from_numpy(ladder.beta).unsqueeze(1)
            p.mul_(beta)
        if self.gaussian:
            noise = self.U[:A.numel()].view_as(A)
            self.normal(noise)
            A.add_(noise)
        elif self.q:
            self.states(p, A)
        else:
            self.draw(p.sigmoid_(), A)
        torch.addmm(self.c, V, W, out=P)
        if ladder:
            torch.mul(P[B:], beta, out=self.T)
            self.draw(self.T.sigmoid_(), H)
            E = -(torch.mul(H, P[B:], out=self.T).sum(1) + A @ self.b).numpy()
            P.sigmoid_()
        else:
            P.sigmoid_()
            self.draw(P[B:], H)
        coef = self.coef
        if ladder and ladder.kind == "pt":
            rows = torch.from_numpy(np.concatenate([np.arange(B), B + ladder.swap(E)]))
            V, P = V[rows], P[rows]
            coef = torch.from_numpy(np.repeat(f32([self.rate / B, -self.rate / ladder.groups]), [B, ladder.groups]))
        elif ladder:
            coef[B:] = torch.from_numpy(ladder.reassign(E))
            coef[B:] *= -self.rate / ladder.groups
        P.mul_(coef.unsqueeze(1))
        self.ascend(V, P)
        self.b.addmv_(V.t(), coef)
        self.c.add_(P.sum(0))

    def parameters(self):
        return self.W.numpy(), self.b.numpy()


class NumpyDiscriminative:
    """Steps along the gradient of log p(y|x), without random numbers. e^a of the inputs and
    e^u of each class's weights are computed once. With their product x, a hidden mean is
    x/(1 + x), and p(y|x) uses logarithms of products of 1 + x, as in ClassJob."""

    def __init__(self, job, seed):
        p = Problem(job)
        k = self.k = job["classes"]
        n = p.n - k
        self.X, self.W, self.b, self.c, self.B, self.rate = p.X, p.W, p.b, p.c, job["batch"], job["rate"]
        self.Wx, self.Wy, self.by = p.W[:n], p.W[n:], p.b[n:]
        self.Y = np.eye(k, dtype=f32)[np.fromfile(job["labels"], np.uint8)]
        self.clip = float((self.X[:2000] @ self.Wx + self.c).max() + max(0, self.Wy.max())) + 5
        self.times = foldings(p.m, self.clip)
        B, m = self.B, p.m
        self.A, self.F, self.D, self.G = np.empty((B, m), f32), np.empty((k, m), f32), np.zeros((B, m), f32), np.empty((k, m), f32)
        self.E, self.T = np.empty((B, k, m), f32), np.empty((B, k, m), f32)
        self.t = 0
        self.tune()

    def tune(self):
        R = np.empty_like(self.Wx)

        def product(V, D):
            np.matmul(V.T, D, out=R)
            np.add(self.Wx, R, out=self.Wx)

        def in_place(V, D):
            blas.sgemm(1, D.T, V.T, 1, self.Wx.T, trans_b=1, overwrite_c=1)
        ways = [product] + ([in_place] if blas else [])
        self.ascend = fastest([lambda w=w: w(self.X[:self.B], self.D) or w for w in ways])()  # D is zero, so W does not change

    def step(self):
        B, A, E, T = self.B, self.A, self.E, self.T
        lo = self.t % (len(self.X) // B) * B
        self.t += 1
        V = self.X[lo:lo + B]
        np.matmul(V, self.Wx, out=A)
        A += self.c
        np.minimum(A, self.clip, out=A)
        np.exp(A, out=A)
        np.exp(self.Wy, out=self.F)
        np.multiply(A[:, None, :], self.F, out=E)
        np.add(E, 1, out=T)
        np.divide(E, T, out=E)
        s = fold(T.reshape(B * self.k, -1), self.times)
        np.log(s, out=s)
        L = s.sum(1).reshape(B, self.k) + self.by
        L -= L.max(1, keepdims=True)
        np.exp(L, out=L)
        L /= L.sum(1, keepdims=True)
        K = self.Y[lo:lo + B].copy()
        K -= L
        K *= f32(self.rate / B)
        np.matmul(K[:, None, :], E, out=self.D[:, None, :])
        np.matmul(K.T[:, None, :], E.transpose(1, 0, 2), out=self.G[:, None, :])
        self.ascend(V, self.D)
        self.c += self.D.sum(0)
        self.Wy += self.G
        self.by += K.sum(0)

    def parameters(self):
        return self.W, self.b


class TorchDiscriminative:
    """The same with PyTorch."""

    def __init__(self, job, seed):
        q = NumpyDiscriminative(job, seed)
        self.B, self.k, self.rate, self.clip, self.times, self.t = q.B, q.k, q.rate, q.clip, q.times, 0
        self.X, self.Y, self.W, self.b, self.c = (torch.from_numpy(a) for a in (q.X, q.Y, q.W, q.b, q.c))
        self.A, self.F, self.D, self.G, self.E, self.T = (torch.from_numpy(a) for a in (q.A, q.F, q.D, q.G, q.E, q.T))
        n = len(self.W) - self.k
        self.Wx, self.Wy, self.by = self.W[:n], self.W[n:], self.b[n:]
        self.D.zero_()
        self.tune()

    def tune(self):
        R = torch.empty_like(self.Wx)

        def product(V, D):
            torch.mm(V.t(), D, out=R)
            self.Wx.add_(R)

        def in_place(V, D):
            self.Wx.addmm_(V.t(), D)
        self.ascend = fastest([lambda w=w: w(self.X[:self.B], self.D) or w for w in (product, in_place)])()

    def step(self):
        B, A, E, T = self.B, self.A, self.E, self.T
        lo = self.t % (len(self.X) // B) * B
        self.t += 1
        V = self.X[lo:lo + B]
        torch.addmm(self.c, V, self.Wx, out=A)
        A.clamp_(max=self.clip).exp_()
        torch.exp(self.Wy, out=self.F)
        torch.mul(A.unsqueeze(1), self.F, out=E)
        torch.add(E, 1, out=T)
        E.div_(T)
        L = fold(T.view(B * self.k, -1), self.times).log_().sum(1).view(B, self.k).add_(self.by)
        K = self.Y[lo:lo + B] - torch.softmax(L, 1)
        K.mul_(self.rate / B)
        torch.bmm(K.unsqueeze(1), E, out=self.D.unsqueeze(1))
        torch.bmm(K.t().unsqueeze(1), E.transpose(0, 1), out=self.G.unsqueeze(1))
        self.ascend(V, self.D)
        self.c.add_(self.D.sum(0))
        self.Wy.add_(self.G)
        self.by.add_(K.sum(0))

    def parameters(self):
        return self.W.numpy(), self.b.numpy()


def change(steps, parameters, step):
    """Makes 2·steps steps, and returns how the second half changes the parameters; see
    changeOf in check.go."""
    for _ in range(steps):
        step()
    W, b = (np.array(a) for a in parameters())
    before, last, jumps = W, None, 0.0
    for _ in range(steps):
        step()
        now = np.array(parameters()[0])
        d = now - before
        if last is not None:
            jumps += float(np.square(d - last, dtype=np.float64).sum())
        before, last = now, d
    dW, db = before.astype(np.float64) - W, parameters()[1].astype(np.float64) - b
    return dict(weights=dW.mean(1).tolist(), biases=db.tolist(), jumps=jumps, whole=float((dW ** 2).sum()))


class UpdateJob:
    kind = dict(numpy=NumpyUpdate, torch=TorchUpdate)
    discriminative = dict(numpy=NumpyDiscriminative, torch=TorchDiscriminative)

    def __init__(self, job):
        self.make = (self.discriminative if job["kind"] == "discriminative" else self.kind)[library]
        self.job, self.update = job, self.make(job, job["seed"])

    def run(self, n):
        for _ in range(n):
            self.update.step()

    def answer(self, ask):
        if "energies" in ask:
            ladder = Ladder("ins", 1, self.job["betas"], None)
            return dict(values=ladder.weigh(np.array(ask["energies"], f32))[1].ravel().tolist())
        update = self.make(self.job, ask["seed"])
        return change(ask["steps"], update.parameters, update.step)


class SklearnJob:
    """BernoulliRBM.fit, which draws its first model. run subtracts the seconds of a fit
    of a single batch, which are set-up, and scales the rest to n updates."""

    def __init__(self, job):
        self.job, self.X = job, Problem(job).X
        self.first = min(self.fit(1) for _ in range(5))

    def new(self, passes, seed=0):
        job = self.job
        return BernoulliRBM(job["hidden"], learning_rate=job["rate"], batch_size=job["batch"], n_iter=passes, random_state=seed)

    def start(self, seed, path):
        """Writes the first model of fit, which is the first that fit draws."""
        m, n = self.job["hidden"], self.job["visible"]
        W = np.random.RandomState(seed).normal(0, 0.01, (m, n)).astype(f32)
        np.concatenate([W.T.ravel(), np.zeros(n + m, f32)]).tofile(path)

    def fit(self, n):
        """Returns the seconds of about n updates, in whole passes over the data if there
        are many. self.done is their number."""
        B = self.job["batch"]
        full = len(self.X) // B
        passes = max(1, n // full)
        X = self.X[:min(n, full) * B]
        self.done = passes * min(n, full)
        rbm = self.new(passes)
        start = time.perf_counter()
        rbm.fit(X)
        return time.perf_counter() - start

    def run(self, n):
        seconds = self.fit(n + 1) - self.first
        return seconds * n / max(1, self.done - 1)

    def answer(self, ask):
        """Records the parameters of fit at each update."""
        full = len(self.X) // self.job["batch"]
        steps = 2 * ask["steps"]
        rbm, along = self.new(-(-steps // full), ask["seed"]), []
        update = rbm._fit

        def note():
            along.append((rbm.components_.T.copy(), rbm.intercept_visible_.copy()))

        def record(v, rng):
            if not along:
                note()
            update(v, rng)
            note()
        rbm._fit = record
        rbm.fit(self.X[:min(steps, full) * self.job["batch"]])
        here = [0]

        def step():
            here[0] += 1
        return change(ask["steps"], lambda: along[here[0]], step)


# ---- p(y|x) ----

BLOCK = 256  # rows at a time, so that preactivations stay in the second-level cache


def foldings(m, largest):
    """Returns how many times the two halves of a row of m terms 1 + e^x may be multiplied
    before the logarithm without overflow of float32 at e^88."""
    n = 0
    while n < 3 and m % (2 << n) == 0 and largest * (2 << n) < 85:
        n += 1
    return n


def fold(T, times):
    for _ in range(times):
        half = T.shape[1] // 2
        T[:, :half] *= T[:, half:]
        T = T[:, :half]
    return T


class ClassJob:
    """Computes Σ_j log(1 + e^(a_j + u_jy)). e^a is computed once for all classes; then each
    class needs a product, an addition, and a logarithm of products of 2 to 8 terms."""

    def __init__(self, job):
        p = Problem(job)
        k = self.k = job["classes"]
        n = p.n - k
        self.X, self.W, self.c, self.by = p.X, np.ascontiguousarray(p.W[:n]), p.c, p.b[n:]
        self.F = np.exp(p.W[n:])
        largest = float((self.X[:2000] @ self.W + self.c).max() + max(0, p.W[n:].max())) + 5
        self.times, self.clip = foldings(p.m, largest), largest
        self.logp = np.empty((len(self.X), k), f32)
        if library == "torch":
            self.X, self.W, self.c, self.by, self.F, self.out = (torch.from_numpy(a) for a in (self.X, self.W, self.c, self.by, self.F, self.logp))

    def numpy_rows(self, lo, hi):
        A = np.empty((BLOCK, self.W.shape[1]), f32)
        T = np.empty_like(A)
        for r in range(lo, hi, BLOCK):
            n = min(BLOCK, hi - r)
            E, t = A[:n], T[:n]
            np.matmul(self.X[r:r + n], self.W, out=E)
            E += self.c
            np.minimum(E, self.clip, out=E)
            np.exp(E, out=E)
            for y in range(self.k):
                np.multiply(E, self.F[y], out=t)
                np.add(t, 1, out=t)
                s = fold(t, self.times)
                np.log(s, out=s)
                s.sum(1, out=self.logp[r:r + n, y])
        L = self.logp[lo:hi]
        L += self.by
        L -= L.max(1, keepdims=True)
        L -= np.log(np.exp(L).sum(1, keepdims=True))

    def torch_rows(self):
        A = torch.empty(BLOCK, self.W.shape[1])
        T = torch.empty_like(A)
        for r in range(0, len(self.X), BLOCK):
            n = min(BLOCK, len(self.X) - r)
            E, t = A[:n], T[:n]
            torch.addmm(self.c, self.X[r:r + n], self.W, out=E)
            E.clamp_(max=self.clip).exp_()
            for y in range(self.k):
                torch.mul(E, self.F[y], out=t)
                t.add_(1)
                self.out[r:r + n, y] = fold(t, self.times).log_().sum(1)
        self.out += self.by
        self.out.sub_(torch.logsumexp(self.out, 1, keepdim=True))

    def run(self, n):
        for _ in range(n):
            if library == "torch":
                self.torch_rows()
            else:
                shared(self.numpy_rows, len(self.X))

    def answer(self, ask):
        self.run(1)
        return dict(values=self.logp[:ask["rows"]].ravel().astype(float).tolist())


# ---- annealed importance sampling ----

class AISJob:
    """Starts from independent units with the base rates. Temperatures are evenly spaced in
    β, and the hidden units are summed out. The log weight of a step is the logarithm of products
    of (1 + e^(β'x))/(1 + e^(βx)), and e^(β'x) is used to draw h too."""

    def __init__(self, job):
        p = Problem(job)
        self.p, self.b0 = p, np.fromfile(job["base"], f32)
        self.chains, self.K, self.seed = job["chains"], job["temperatures"], job["seed"]

    def numpy_chains(self, lo, hi):
        p, b0, n = self.p, self.b0, hi - lo
        rng = np.random.Generator(np.random.SFC64([self.seed, lo]))
        U, A = np.empty((n, p.n), f32), np.empty((n, p.n), f32)
        X, e, d, u = (np.empty((n, p.m), f32) for _ in range(4))
        V = (rng.random((n, p.n), dtype=f32) < 1 / (1 + np.exp(-b0))).astype(f32)
        H = np.empty((n, p.m), f32)
        gain, logw = p.b - b0, np.zeros(n)
        for k in range(1, self.K):
            before, beta = f32((k - 1) / (self.K - 1)), f32(k / (self.K - 1))
            np.matmul(V, p.W, out=X)
            X += p.c
            np.multiply(X, before, out=d)
            np.exp(d, out=d)
            d += 1
            np.multiply(X, beta, out=e)
            np.exp(e, out=e)
            np.add(e, 1, out=X)
            np.divide(X, d, out=d)
            s = fold(d, 2 if p.m % 4 == 0 else 0)
            logw += np.log(s, out=s).sum(1) + (beta - before) * (V @ gain)
            if k == self.K - 1:
                break
            rng.random(out=u, dtype=f32)
            u *= X
            np.less(u, e, out=H)
            np.matmul(H, p.W.T, out=A)
            A += p.b
            A *= -beta
            A -= (1 - beta) * b0
            np.exp(A, out=A)
            A += 1
            rng.random(out=U, dtype=f32)
            U *= A
            np.less(U, 1, out=V)
        return logw

    def torch_chains(self):
        p, n = self.p, self.chains
        W, b, c, b0 = (torch.from_numpy(a) for a in (p.W, p.b, p.c, self.b0))
        torch.manual_seed(self.seed)
        rng = np.random.Generator(np.random.SFC64(self.seed))
        A, U = torch.empty(n, p.n), torch.empty(n, p.n)
        X, e, d, u = (torch.empty(n, p.m) for _ in range(4))
        room = torch.empty_like(U)

        def own(out):
            out.uniform_()

        def numpys(out):
            rng.random(out=out.numpy(), dtype=f32)
        uniform = fastest([lambda w=w: w(room) or w for w in (own, numpys)])()
        V = (torch.rand(n, p.n) < torch.sigmoid(b0)).float()
        gain, logw = b - b0, torch.zeros(n, dtype=torch.float64)
        for k in range(1, self.K):
            before, beta = (k - 1) / (self.K - 1), k / (self.K - 1)
            torch.addmm(c, V, W, out=X)
            torch.mul(X, before, out=d).exp_().add_(1)
            torch.mul(X, beta, out=e).exp_()
            torch.add(e, 1, out=X)
            torch.div(X, d, out=d)
            logw += fold(d, 2 if p.m % 4 == 0 else 0).log_().sum(1) + (beta - before) * (V @ gain)
            if k == self.K - 1:
                break
            uniform(u)
            H = u.mul_(X).lt_(e)
            torch.addmm((1 - beta) * b0 + beta * b, H, W.t(), beta=1, alpha=beta, out=A)
            uniform(V)
            V.lt_(A.sigmoid_())
        return logw.numpy()

    def run(self, n):
        p = self.p
        for _ in range(n):
            self.seed += 1
            logw = self.torch_chains() if library == "torch" else np.concatenate(shared(self.numpy_chains, self.chains))
            top = logw.max()
            w = np.exp(logw - top)
            self.logz = top + math.log(w.mean()) + np.logaddexp(0, self.b0.astype(float)).sum() + p.m * math.log(2)
            self.error = w.std() / w.mean() / math.sqrt(len(w) - 1)

    def answer(self, ask):
        self.run(1)
        return dict(values=[float(self.logz), float(self.error)])


# ---- exact log Z ----

class ExactJob:
    """Enumerates the hidden states in blocks. The preactivations of a block are a matrix
    product. If float32 does not overflow, their exponentials are those of a common block times those of
    its upper bits. Logarithms are of products of terms, as for p(y|x)."""

    def __init__(self, job):
        p = self.p = Problem(job)
        reach = float((p.b + np.maximum(p.W, 0).sum(1)).max())
        if reach > 85:
            raise ValueError("preactivations up to %.3g, whose exponentials float32 does not hold" % reach)
        self.times = foldings(p.n, max(reach, 1) + 1)
        self.low = min(p.m, 8)
        states = np.arange(1 << p.m, dtype=np.uint32)
        self.bits = (states[:, None] >> np.arange(p.m, dtype=np.uint32) & 1).astype(f32)
        self.linear = self.bits.astype(np.float64) @ p.c
        self.E = np.exp(self.bits[:1 << self.low] @ p.W.T)
        self.factored = np.abs(p.W).sum(1).max() < 80
        self.ways = [self.products] + ([self.factors] if self.factored else [])
        sample = min(1 << p.m, 16 << self.low)
        self.way = fastest([lambda w=w: self.log_sum(w, 0, sample) and w for w in self.ways])()

    def products(self, lo, T):
        np.matmul(self.bits[lo:lo + len(T)], self.p.W.T, out=T)
        np.add(T, self.p.b, out=T)
        np.exp(T, out=T)

    def factors(self, lo, T):
        np.multiply(self.E, np.exp(self.bits[lo] @ self.p.W.T + self.p.b), out=T)

    def log_sum(self, way, lo, hi):
        n = 1 << self.low
        T = np.empty((n, self.p.n), f32)
        t = torch.from_numpy(T) if library == "torch" else None
        logs = np.empty(hi - lo)
        for r in range(lo, hi, n):
            if t is not None:
                self.torch_block(way, r, t)
                s = fold(t, self.times).log_().sum(1).numpy()
            else:
                way(r, T)
                np.add(T, 1, out=T)
                s = fold(T, self.times)
                s = np.log(s, out=s).sum(1)
            logs[r - lo:r - lo + n] = s
        logs += self.linear[lo:hi]
        return np.logaddexp.reduce([logs.max(), -np.inf]) + math.log(np.exp(logs - logs.max()).sum())

    def torch_block(self, way, r, t):
        p = self.p
        W, b = torch.from_numpy(p.W), torch.from_numpy(p.b)
        bits = torch.from_numpy(self.bits[r:r + len(t)])
        if way == self.products:
            torch.addmm(b, bits, W.t(), out=t).exp_()
        else:
            torch.mul(torch.from_numpy(self.E), torch.addmv(b, W, bits[0]).exp_(), out=t)
        t.add_(1)

    def run(self, n):
        for _ in range(n):
            def work(lo, hi):
                return self.log_sum(self.way, lo << self.low, hi << self.low)
            logs = np.array(shared(work, 1 << (self.p.m - self.low)))
            self.logz = logs.max() + math.log(np.exp(logs - logs.max()).sum())

    def answer(self, ask):
        self.run(1)
        return dict(values=[float(self.logz)])


# ---- the protocol ----

def peak():
    """Returns the peak memory of this process in bytes."""
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return 1024 * int(line.split()[1])
    raise OSError("no VmHWM in /proc/self/status")


def versions():
    text = dict(numpy="NumPy " + np.__version__, torch="", sklearn="")
    if library == "torch":
        text["torch"] = "PyTorch " + torch.__version__
    if library == "sklearn":
        text["sklearn"] = "scikit-learn " + sklearn.__version__
    try:
        import threadpoolctl
        info = [i for i in threadpoolctl.threadpool_info() if i["user_api"] == "blas"]
        base = ", ".join("%s %s %s" % (i["internal_api"], i["version"], i.get("architecture", "")) for i in info)
        text[library] += ", " + (base.strip() or "a BLAS unknown to threadpoolctl: install libopenblas0")
    except ImportError:
        pass
    return text[library]


jobs = dict(pcd=UpdateJob, pt=UpdateJob, ins=UpdateJob, discriminative=UpdateJob, classify=ClassJob, ais=AISJob, exact=ExactJob)


def main():
    job = None
    for line in sys.stdin:
        ask = json.loads(line)
        try:
            out = {}
            if ask["do"] == "hello":
                out = dict(version=versions())
            elif ask["do"] == "prepare":
                job = None
                make = SklearnJob if library == "sklearn" else jobs[ask["job"]["kind"]]
                job = make(ask["job"])
            elif ask["do"] == "run":
                start = time.perf_counter()
                own = job.run(ask["n"])
                out = dict(seconds=time.perf_counter() - start if own is None else own)
            elif ask["do"] == "start":
                job.start(ask["seed"], ask["path"])
            elif ask["do"] == "answer":
                out = job.answer(ask)
            elif ask["do"] == "peak":
                out = dict(bytes=peak())
        except Exception as e:
            out = dict(error="%s: %s" % (type(e).__name__, " ".join(str(e).split())))
        print(json.dumps(out), flush=True)


if __name__ == "__main__":
    main()
