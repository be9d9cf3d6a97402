"""Tests of the package. go test ./cmd/python/... runs them, with GORBM_PYTHON set; GORBM_LONG adds the long ones."""

import itertools
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, HERE)

import gorbm  # noqa: E402
from gorbm import _schema  # noqa: E402
from gorbm._process import program  # noqa: E402

try:
    import sklearn
except ImportError:
    sklearn = None

LONG = bool(os.environ.get("GORBM_LONG"))
needs_sklearn = unittest.skipIf(sklearn is None, "there is no scikit-learn")


def rows(n=40, inputs=6, seed=0):
    """Return rows of 0 and 1 whose second half repeats the first with a few errors."""
    random = np.random.RandomState(seed)
    half = random.randint(2, size=(n, inputs // 2))
    return np.hstack([half, half ^ (random.uniform(size=half.shape) < 0.1)]).astype(float)


def states(n):
    return np.array(list(itertools.product([0.0, 1.0], repeat=n)))


def enumerated(W, b, c):
    """Return log Σ_h exp(-E(v,h)) for all v, by enumeration of both layers. W is visible × hidden."""
    v, h = states(len(b)), states(len(c))
    minus = (v @ b)[:, None] + (h @ c)[None] + v @ W @ h.T
    return np.log(np.exp(minus).sum(axis=1))


def programs(parent):
    """Return the gorbm-python processes started by a process."""
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(parent)], stdout=subprocess.PIPE, text=True).stdout.split()
    return [int(pid) for pid in found if is_program(int(pid))]


os.environ.setdefault("GORBM_TESTS", str(os.getpid()))  # marks the programs and workers that this run starts


def is_program(pid):
    """Return whether a process is a gorbm-python that has not ended."""
    try:
        with open(f"/proc/{pid}/stat") as f, open(f"/proc/{pid}/cmdline") as g:
            alone = g.read().rstrip("\0")  # the command line has no arguments
            return f.read().rsplit(")", 1)[1].split()[0] != "Z" and alone == program()
    except OSError:
        return False


def until(condition, seconds=60):
    """Wait until a condition holds, and return whether it did."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


class TestTruth(unittest.TestCase):
    """NumPy computes the results of the model from its attributes."""

    def test_transform(self):
        X = rows()
        m = gorbm.BernoulliRBM(5, random_state=0).fit(X)
        p = 1 / (1 + np.exp(-(X @ m.components_.T + m.intercept_hidden_)))
        np.testing.assert_allclose(m.transform(X), p, rtol=0, atol=1e-12)
        m.components_ *= 1e4  # saturated units neither overflow nor warn
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertTrue(np.all(np.isfinite(m.transform(X))) and np.all(np.isfinite(m.score_samples(X))))

    def test_pseudo_likelihood(self):
        m = gorbm.BernoulliRBM(4, random_state=0, n_iter=50).fit(rows())
        F = enumerated(m.components_.T, m.intercept_visible_, m.intercept_hidden_)
        want = np.zeros(64)
        for s, i in itertools.product(range(64), range(6)):
            want[s] += F[s] - np.logaddexp(F[s], F[s ^ (32 >> i)])
        np.testing.assert_allclose(m.score_samples(states(6)), want, atol=1e-10)

    def test_density(self):
        m = gorbm.RBMDensity(6, random_state=0).fit(rows(2000))
        F = enumerated(m.components_.T, m.intercept_visible_, m.intercept_hidden_)
        want = F - np.log(np.exp(F).sum())
        got = m.score_samples(states(6))
        np.testing.assert_allclose(got, want, atol=1e-6)  # the parameters in the program are float32
        self.assertAlmostEqual(np.exp(got).sum(), 1, places=6)
        self.assertEqual(m.log_z_bracket_, (m.log_z_, m.log_z_))
        self.assertEqual(m.log_z_std_error_, 0)
        entropy = 3 * (np.log(2) - 0.1 * np.log(0.1) - 0.9 * np.log(0.9))  # entropy of the distribution of rows
        self.assertLess(abs(m.score(rows(20000, seed=1)) + entropy), 0.05)

    def test_fill(self):
        m = gorbm.RBMDensity(4, random_state=0, n_iter=200, scale=(2, 4)).fit(2 + 2 * rows(200))
        p = np.exp(m.score_samples(2 + 2 * states(6)))
        X = 2 + 2 * states(6)[[5, 40, 63]]
        holes = X.copy()
        holes[0, [1, 4]] = holes[1, :] = np.nan
        filled = m.fill(holes)
        np.testing.assert_array_equal(filled[~np.isnan(holes)], holes[~np.isnan(holes)])
        for r in (0, 1):
            same = np.all(np.isnan(holes[r]) | (2 + 2 * states(6) == holes[r]), axis=1)
            mean = 2 + 2 * (p[same] @ states(6)[same]) / p[same].sum()
            self.assertLess(np.abs(filled[r] - mean).max(), 1e-5)
        self.assertTrue(np.isnan(holes[0, 1]))

    def test_sample(self):
        m = gorbm.RBMDensity(4, random_state=0, n_iter=200, scale=(2, 4)).fit(2 + 2 * rows(200))
        n = 4000
        X = m.sample(n)
        self.assertEqual(set(np.unique(X)), {2.0, 4.0})
        counts = np.bincount(((X - 2) / 2 @ 2.0 ** np.arange(6)[::-1]).astype(int), minlength=64)
        p = np.exp(m.score_samples(2 + 2 * states(6)))
        self.assertLess(np.abs(counts - n * p).max() / np.sqrt(n * p.max()), 2 * 6)
        np.testing.assert_array_equal(X, m.sample(n))  # the same random_state

    def test_classes(self):
        X = rows()
        y = np.array(["no", "yes", "perhaps"])[(X[:, 0] + X[:, 1]).astype(int)]
        for objective in ("joint", "discriminative", "hybrid"):
            m = gorbm.RBMClassifier(4, objective=objective, random_state=0).fit(X, y)
            W = np.vstack([m.components_.T, m.class_components_.T])
            F = enumerated(W, np.concatenate([m.intercept_visible_, m.intercept_class_]), m.intercept_hidden_).reshape(64, 8)
            one_hot = F[:, [4, 2, 1]]
            want = one_hot - np.log(np.exp(one_hot).sum(axis=1, keepdims=True))
            np.testing.assert_allclose(m.predict_log_proba(states(6)), want, atol=1e-10)
            np.testing.assert_allclose(m.predict_proba(states(6)).sum(axis=1), 1, atol=1e-12)
            self.assertEqual(list(m.classes_), ["no", "perhaps", "yes"])
            if objective != "joint":
                self.assertEqual(np.mean(m.predict(X) == y), 1)

    def test_threads(self):
        """Threads that share an estimator train it one after another, and get what one thread gets."""
        X = rows(200)
        alone, shared = (gorbm.BernoulliRBM(4, random_state=0, batch_size=20) for _ in range(2))
        for _ in range(8):
            alone.partial_fit(X)
        with ThreadPoolExecutor(4) as pool:
            for done in [pool.submit(shared.partial_fit, X) for _ in range(8)]:
                done.result(timeout=60)
        self.assertEqual(shared.n_steps_, 80)
        np.testing.assert_array_equal(shared.components_, alone.components_)
        with ThreadPoolExecutor(4) as pool:
            for done in [pool.submit(shared.fit, X) for _ in range(4)]:
                done.result(timeout=60)
        np.testing.assert_array_equal(shared.components_, alone.fit(X).components_)
        pickle.loads(pickle.dumps(shared))

    @needs_sklearn
    def test_beside_sklearn(self):
        """With equal attributes scikit-learn's BernoulliRBM has the same features; its random scores have our mean."""
        from sklearn.neural_network import BernoulliRBM

        X = rows()
        m = gorbm.BernoulliRBM(5, random_state=0, n_iter=50).fit(X)
        other = BernoulliRBM(5, n_iter=1, random_state=1).fit(X)
        for name in ("components_", "intercept_hidden_", "intercept_visible_"):
            setattr(other, name, getattr(m, name))
        other.random_state = np.random.RandomState(2)  # so that calls differ
        np.testing.assert_allclose(m.transform(X), other.transform(X), atol=1e-12)
        draws = np.array([other.score_samples(X).mean() for _ in range(500)])
        error = draws.std() / np.sqrt(500)
        self.assertLess(abs(draws.mean() - m.score_samples(X).mean()), 6 * error)
        self.assertGreater(abs(draws.mean() - m.score_samples(1 - X).mean()), 6 * error)  # the test is sensitive

    @unittest.skipIf("GORBM_MODEL" not in os.environ, "the Go test writes the model")
    def test_from_run(self):
        """A model written by Go gives the results that Go computed."""
        want = np.load(os.path.join(os.environ["GORBM_MODEL"], "want.npz"))
        X = want["x"].astype(float)
        m = gorbm.RBMClassifier.from_run(os.path.join(os.environ["GORBM_MODEL"], "labelled.safetensors"))
        self.assertEqual(list(m.classes_), [3, 5, 8])
        np.testing.assert_allclose(m.predict_log_proba(X * 16), want["log_proba"].reshape(len(X), 3), atol=1e-9)
        m = gorbm.BernoulliRBM.from_run(os.environ["GORBM_MODEL"])
        np.testing.assert_allclose(m.transform(X), want["hidden"].reshape(len(X), -1), atol=1e-6)
        m = gorbm.RBMDensity.from_run(os.environ["GORBM_MODEL"])
        np.testing.assert_allclose(m.score_samples(X) + m.log_z_, -want["free"], atol=1e-9)
        self.assertAlmostEqual(m.log_z_, float(want["log_z"][0]), places=9)
        for kind in (np.float64, np.uint8):  # bytes, as the run read them
            np.testing.assert_allclose(m.score_samples((255 * X).astype(kind)) + m.log_z_, -want["free"], atol=1e-9)
        with self.assertRaisesRegex(ValueError, "outside \\[0, 1\\] and are not bytes"):
            m.score_samples(256 * X)
        with self.assertRaisesRegex(ValueError, "3 label units"):
            gorbm.BernoulliRBM.from_run(os.path.join(os.environ["GORBM_MODEL"], "labelled.safetensors"))
        for name, scale in (("spins", (-1, 1)), ("columns", ([0] * 6 + [-1], [1, 2, 3, 4, 5, 6, 0]))):
            s = gorbm.BernoulliRBM.from_run(model_file(name))
            np.testing.assert_array_equal([s.scale_low_, s.scale_high_], [np.broadcast_to(x, 7) for x in scale])
            low, high = np.array(s.scale_low_), np.array(s.scale_high_)
            np.testing.assert_allclose(s.transform(low + X * (high - low)), want["hidden"].reshape(len(X), -1), atol=1e-6)
        for name, line in (("constrained", "a constraint"), ("drelu", "drelu hidden units")):
            with self.assertRaisesRegex(ValueError, line + ", which this package cannot read; use rbmeval and rbmsample"):
                gorbm.RBMDensity.from_run(model_file(name))
        with tempfile.NamedTemporaryFile(suffix=".safetensors") as f:
            f.write(b"\x10\0\0\0\0\0\0\0not a header at all")
            f.flush()
            with self.assertRaisesRegex(ValueError, "is not a model of gorbm"):
                gorbm.BernoulliRBM.from_run(f.name)


    @unittest.skipIf("GORBM_MODEL" not in os.environ, "the Go test writes the model")
    def test_from_run_of_numbers(self):
        want = np.load(os.path.join(os.environ["GORBM_MODEL"], "want.npz"))
        m = gorbm.RBMDensity.from_run(model_file("numbers"), random_state=0)
        deviation = np.arange(7) / 2
        X = 10 * np.arange(7) + want["real"] * np.where(deviation > 0, deviation, 1)
        np.testing.assert_allclose(m.transform(X), want["real_hidden"].reshape(len(X), -1), atol=1e-6)
        self.assertAlmostEqual(m.log_z_, float(want["real_log_z"][0]), places=9)
        np.testing.assert_allclose(m.score_samples(X), -want["real_free"] - want["real_log_z"] - np.log(deviation[1:]).sum(), atol=1e-6)  # X is rounded
        self.assertEqual(m.sample(3).shape, (3, 7))
        self.assertEqual((list(m.feature_names_in_), m.units), (list("abcdefg"), "gaussian:precision=learned"))
        with self.assertRaisesRegex(ValueError, "are not bits \\(gaussian:7\\); open it with RBMDensity.from_run"):
            gorbm.BernoulliRBM.from_run(model_file("numbers"))

    @unittest.skipIf("GORBM_MODEL" not in os.environ, "the Go test writes the model")
    def test_from_run_of_table(self):
        """Rows of words give the results of their units."""
        want = np.load(os.path.join(os.environ["GORBM_MODEL"], "want.npz"))
        words = np.array([["blue", "f", 11.5], ["green", "m", 2], ["red", "f", "3"]], dtype=object)
        units = np.array([[1, 0, 0, 0, 0, 0, 1], [0, 1, 0, 1, 1, 0, 0], [0, 0, 1, 0, 0, 1, 0]])
        m = gorbm.RBMDensity.from_run(model_file("table"), random_state=0)
        np.testing.assert_allclose(m.score_samples(words), -want["table_free"] - want["table_log_z"], atol=1e-9)
        np.testing.assert_array_equal(m.score_samples(words), m.score_samples(units))
        np.testing.assert_array_equal(m.transform(words), m.transform(units))
        every = np.array([[c, s, x] for c in ("blue", "green", "red") for s in "fm" for x in ("1", "5", "20")], dtype=object)
        p = np.exp(m.score_samples(every))
        self.assertAlmostEqual(p.sum(), 1, places=9)
        n = 4000
        draws = m.sample(n, X=words)
        for row, chance in zip(every, p):
            self.assertLess(abs((draws == row).all(axis=1).sum() - n * chance), 2 * 6 * np.sqrt(n * chance))
        holes = np.array([["blue", None, "20"], ["", "m", "1"], ["red", "f", "5"]], dtype=object)
        if sklearn is not None:
            import pandas

            frame = pandas.DataFrame(words, columns=["colour", "sex", "size"])[["size", "colour", "sex"]].assign(more=1)
            np.testing.assert_array_equal(m.score_samples(frame), m.score_samples(units))
        filled = m.fill(holes)
        for r, j in ((0, 1), (1, 0)):
            same = [i for i, row in enumerate(every) if all(k == j or row[k] == holes[r, k] for k in range(3))]
            self.assertEqual(list(filled[r]), list(every[max(same, key=lambda i: p[i])]))
        self.assertEqual(list(filled[2]), ["red", "f", "5"])
        with self.assertRaisesRegex(ValueError, "row 1, column colour: 'pink' is none of its levels, blue, green, red"):
            m.transform([["red", "f", 1], ["pink", "f", 1]])
        with self.assertRaisesRegex(ValueError, "3 columns, which are 7 units"):
            m.transform([["red", "f"]])
        with self.assertRaisesRegex(ValueError, "NaN"):
            m.transform(holes)

    @unittest.skipIf("GORBM_MODEL" not in os.environ, "the Go test writes the model")
    def test_from_run_of_numbers_and_words(self):
        """Rows of words and numbers: densities, draws and fills are in the units of the numbers."""
        want = np.load(os.path.join(os.environ["GORBM_MODEL"], "want.npz"))
        words = np.array([["blue", 110, "f"], ["red", "85", "m"]], dtype=object)
        m = gorbm.RBMDensity.from_run(model_file("mixed"), random_state=0)
        np.testing.assert_allclose(m.score_samples(words), -want["mixed_free"] - want["mixed_log_z"] - np.log(20), atol=1e-9)
        np.testing.assert_array_equal(m.score_samples(words), m.score_samples([[1, 0, 0, 110, 0], [0, 0, 1, 85, 1]]))
        heights = np.arange(-100, 300.0)
        cells = [(c, s) for c in ("blue", "green", "red") for s in "fm"]
        p = np.array([np.exp(m.score_samples(np.array([[c, h, s] for h in heights], dtype=object))) for c, s in cells])
        self.assertAlmostEqual(p.sum(), 1, places=6)
        draws = m.sample(4000, X=words)
        drawn = draws[:, 1].astype(float)
        mean = (p.sum(axis=0) * heights).sum()
        self.assertLess(abs(drawn.mean() - mean), 2 * 6 * drawn.std() / np.sqrt(4000))
        for (c, s), chance in zip(cells, p.sum(axis=1)):
            self.assertLess(abs(((draws[:, 0] == c) & (draws[:, 2] == s)).sum() - 4000 * chance), 2 * 6 * np.sqrt(4000 * chance))
        filled = m.fill(np.array([["red", None, "f"], [None, 120, "m"], ["blue", 90, "f"]], dtype=object))
        q = p[cells.index(("red", "f"))]
        self.assertAlmostEqual(filled[0, 1], (q * heights).sum() / q.sum(), places=3)
        at = [p[cells.index((c, "m"))][220] for c in ("blue", "green", "red")]  # 120
        self.assertEqual(filled[1, 0], ("blue", "green", "red")[int(np.argmax(at))])
        self.assertEqual(list(filled[2]), ["blue", 90, "f"])
        with self.assertRaisesRegex(ValueError, "row 0, column height: 'tall' is not a number, unlike the others of its column"):
            m.transform([["red", "tall", "f"]])

    def test_sequences(self):
        s = _schema.parse("sequences 3 -AC")
        units = s.encode(["A-C", "CCA"])
        np.testing.assert_array_equal(units[0], [0, 1, 0, 1, 0, 0, 0, 0, 1])
        self.assertEqual(list(s.decode(units)), ["A-C", "CCA"])
        with self.assertRaisesRegex(ValueError, "2 letters; those of the model have 3"):
            s.encode(["AC"])
        with self.assertRaisesRegex(ValueError, "row 0, column 1: 'X'"):
            s.encode(["XAC"])


def model_file(name):
    return os.path.join(os.environ["GORBM_MODEL"], name + ".safetensors")


def clusters(n=600, seed=0):
    """Return rows with two clusters in two columns of different units, a column without structure and a constant one."""
    random = np.random.RandomState(seed)
    side = random.choice([-1, 1], size=n)
    return np.column_stack([1000 + 10 * (side + 0.5 * random.randn(n)), 0.01 * (side + 0.5 * random.randn(n)), random.randn(n), np.full(n, -3.0)])


class TestReal(unittest.TestCase):
    """Tests of Gaussian units."""

    def fit(self, **parameters):
        return gorbm.RBMDensity(4, units="gaussian:precision=learned", negphase="pcd", random_state=0, **parameters).fit(clusters())

    def test_density(self):
        """score_samples is the log density of the model, a mixture of normal distributions, one for each hidden state."""
        m = self.fit()
        X = clusters(50, seed=1)
        self.assertEqual(list(m.scale_[3:]), [1])
        np.testing.assert_allclose(m.mean_, clusters().mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(m.scale_[:3], clusters().std(axis=0)[:3], rtol=1e-12)
        x = (X - m.mean_) / m.scale_
        h = states(4)
        W, c, b, g = m.components_.T, m.intercept_hidden_, m.intercept_visible_, m.precision_
        z = b + h @ W.T  # for each hidden state: the field; then log p(h) and the normal density p(x|h)
        log_h = h @ c + (z**2 / g / 2 + np.log(2 * np.pi / g) / 2).sum(axis=1)
        log_z = np.log(np.exp(log_h).sum())
        normal = (-g * (x[:, None] - z / g) ** 2 / 2 + np.log(g / 2 / np.pi) / 2).sum(axis=2)
        want = np.log(np.exp(log_h - log_z + normal).sum(axis=1)) - np.log(m.scale_).sum()
        np.testing.assert_allclose(m.score_samples(X), want, atol=1e-6)  # the parameters in the program are float32
        self.assertAlmostEqual(m.log_z_, log_z, places=6)
        self.assertEqual(m.log_z_std_error_, 0)
        np.testing.assert_allclose(m.transform(X), 1 / (1 + np.exp(-(x @ W + c))), atol=1e-9)
        # Independent columns would each have the entropy of two clusters. Together they share the bit of the cluster.
        apart = gorbm.RBMDensity(4, units="gaussian", negphase="pcd", random_state=0, n_iter=0).fit(clusters())
        self.assertGreater(m.score(X), apart.score(X) + 0.5)

    def test_sample(self):
        m = self.fit()
        n = 4000
        X, Y = m.sample(n), clusters(n, seed=2)
        self.assertLess(np.abs(X.mean(axis=0) - Y.mean(axis=0))[:3].max() / 2, 6 * Y.std(axis=0)[:3].max() / np.sqrt(n) + 0.1)
        np.testing.assert_allclose(X.std(axis=0)[:3], Y.std(axis=0)[:3], rtol=0.1)
        self.assertGreater(np.corrcoef(X.T)[0, 1], 0.6)  # 0.8 of the rows
        self.assertLess(abs(np.corrcoef(X.T)[0, 2]), 0.15)
        np.testing.assert_array_equal(X, m.sample(n))

    def test_fill(self):
        """The mean of a missing number given the others agrees with the density."""
        m = self.fit()
        X = clusters(5, seed=3)
        X[:, 3] = -3
        holes = X.copy()
        holes[:, 1] = np.nan
        filled = m.fill(holes)
        for r in range(5):
            at = m.mean_[1] + m.scale_[1] * np.linspace(-8, 8, 2001)
            rows = np.repeat(X[r : r + 1], 2001, axis=0)
            rows[:, 1] = at
            p = np.exp(m.score_samples(rows))
            self.assertAlmostEqual(filled[r, 1] / m.scale_[1], p @ at / p.sum() / m.scale_[1], places=4)
        np.testing.assert_array_equal(filled[:, [0, 2, 3]], X[:, [0, 2, 3]])

    def test_partial_fit_and_pickle(self):
        X = clusters()
        m = gorbm.RBMDensity(3, units="gaussian:precision=learned", negphase="pcd", random_state=0).partial_fit(X[:200])
        copy = pickle.loads(pickle.dumps(m))
        scale = m.scale_.copy()
        np.testing.assert_array_equal(m.partial_fit(X[200:]).precision_, copy.partial_fit(X[200:]).precision_)
        np.testing.assert_array_equal(m.scale_, scale)
        self.assertEqual(m.precision_[3], 1)
        self.assertFalse(np.array_equal(m.precision_[:3], np.ones(3)))
        fitted = self.fit(n_iter=5)
        before = fitted.precision_.copy()
        self.assertFalse(np.array_equal(fitted.partial_fit(X).precision_, before))

    def test_classifier(self):
        X = clusters()
        y = np.where(X[:, 0] > 1000, "heavy", "light")
        m = gorbm.RBMClassifier(5, units="gaussian", random_state=0).fit(X, y)
        self.assertGreater(m.score(clusters(seed=1), np.where(clusters(seed=1)[:, 0] > 1000, "heavy", "light")), 0.97)
        self.assertEqual(pickle.loads(pickle.dumps(m)).score(X, y), m.score(X, y))

    def test_settings(self):
        X = clusters()
        for parameters, line in (({"units": "normal"}, "units is 'normal'"), ({"scale": "minmax"}, "scale is 'minmax'; with units='gaussian'")):
            with self.assertRaisesRegex(ValueError, line):
                gorbm.RBMDensity(**{"units": "gaussian", **parameters}).fit(X)
        m = gorbm.RBMDensity(2, units="gaussian", scale=None, n_iter=1).fit(X[:, 2:3])
        np.testing.assert_array_equal([m.mean_, m.scale_], [[0], [1]])
        far = 1e9 + clusters()[:, 2:3]  # close to each other, far from 0
        m = gorbm.RBMDensity(2, units="gaussian", n_iter=1).fit(far)
        self.assertAlmostEqual(m.scale_[0], clusters()[:, 2].std(), places=6)
        with self.assertRaisesRegex(ValueError, "overflow"):
            gorbm.RBMDensity(2, units="gaussian").fit(X * 1e200)
        with self.assertRaisesRegex(ValueError, "use pcd"):
            gorbm.RBMDensity(2, units="gaussian", negphase="ptt").fit(X)


class TestTraining(unittest.TestCase):
    def test_warnings(self):
        """Problems of a run are warnings at the line that calls fit."""
        with self.assertWarnsRegex(gorbm.TrainingWarning, "learning_rate") as told:
            gorbm.RBMDensity(5, learning_rate=20, negphase="pcd", schedule="constant", random_state=0).fit(rows())
        self.assertEqual(told.filename, __file__)
        modes = np.repeat(np.eye(2)[np.arange(100) % 2], 40, axis=1)  # modes that no chain leaves
        with self.assertWarnsRegex(gorbm.MixingWarning, "(hardly leave|lag behind).*negphase=") as told:
            gorbm.BernoulliRBM(30, learning_rate=0.01, n_iter=3000, negphase="pcd:chains=40", random_state=0).fit(modes)
        self.assertEqual(told.filename, __file__)

    def test_seeds(self):
        X = rows()
        a = gorbm.BernoulliRBM(70, random_state=3).fit(X)
        b = gorbm.BernoulliRBM(70, random_state=3, n_jobs=-1).fit(X)
        c = gorbm.BernoulliRBM(70, random_state=4).fit(X)
        np.testing.assert_array_equal(a.components_, b.components_)
        self.assertFalse(np.array_equal(a.components_, c.components_))

    def test_types(self):
        X = rows()
        for dtype in (np.float32, np.float64):
            for m in (gorbm.BernoulliRBM(3, random_state=0), gorbm.RBMDensity(3, random_state=0, n_iter=2)):
                m.fit(X.astype(dtype))
                self.assertEqual([m.components_.dtype, m.transform(X.astype(dtype)).dtype, m.score_samples(X.astype(dtype)).dtype], [dtype] * 3)

    def test_scales(self):
        X = rows() * 3 - 1
        want = gorbm.BernoulliRBM(3, random_state=0).fit(rows()).components_
        for scale in ("auto", "minmax", (-1, 2), (np.full(6, -1), np.full(6, 2))):
            m = gorbm.BernoulliRBM(3, random_state=0, scale=scale).fit(X)
            np.testing.assert_array_equal(m.components_, want)
            np.testing.assert_array_equal(m.transform(X + 10), m.transform(np.full_like(X, 2)))
        m = gorbm.BernoulliRBM(3, random_state=0, scale=None)
        with self.assertRaisesRegex(ValueError, "outside \\[0, 1\\]"):
            m.fit(X)
        for scale in ("max", (1, 1), (0, [1, 2]), 7):
            with self.assertRaisesRegex(ValueError, "scale is"):
                gorbm.BernoulliRBM(3, scale=scale).fit(X)
        grey = np.clip(rows() * 0.6 + 0.1, 0, 1)
        a = gorbm.BernoulliRBM(3, random_state=0, binarize="threshold").fit(grey)
        np.testing.assert_array_equal(a.components_, want)
        self.assertFalse(np.array_equal(gorbm.BernoulliRBM(3, random_state=0).fit(grey).components_, want))

    @needs_sklearn
    def test_sparse(self):
        from scipy.sparse import csr_matrix

        for X in (rows(), rows() * 5, rows() - 0.5, np.float32(rows() * 0.3)):
            dense = gorbm.BernoulliRBM(3, random_state=0).fit(X)
            sparse = gorbm.BernoulliRBM(3, random_state=0).fit(csr_matrix(X))
            np.testing.assert_array_equal(dense.components_, sparse.components_)
            np.testing.assert_allclose(dense.transform(X), sparse.transform(csr_matrix(X)), atol=1e-6 if X.dtype == np.float32 else 1e-12)
            np.testing.assert_allclose(dense.score_samples(X), sparse.score_samples(csr_matrix(X)), atol=1e-4 if X.dtype == np.float32 else 1e-12)

    @needs_sklearn
    def test_frames(self):
        import pandas

        frame = pandas.DataFrame(rows(), columns=list("abcdef"))
        m = gorbm.BernoulliRBM(2, random_state=0).set_output(transform="pandas").fit(frame)
        self.assertEqual(list(m.transform(frame).columns), ["bernoullirbm0", "bernoullirbm1"])
        self.assertEqual(list(m.feature_names_in_), list("abcdef"))

    def test_errors(self):
        """Exceptions have the message of the program."""
        X = rows()
        for parameters, line in (
            ({"learning_rate": 1000}, "rate is 1000; it must be above 0 and at most 100"),
            ({"negphase": "pcd:k=0"}, "negphase: pcd: k is 0; it must lie in 1 … 1000000"),
            ({"schedule": "quick"}, 'schedule "quick" is unknown; there are constant, inverse or inverse:STEPS, linear and cosine'),
        ):
            with self.assertRaises(ValueError) as raised:
                gorbm.BernoulliRBM(3, **parameters).fit(X)
            self.assertEqual(str(raised.exception), line)
        with self.assertRaisesRegex(gorbm.TrainingError, "diverged"):
            gorbm.BernoulliRBM(3, learning_rate=100, momentum=0.999, n_iter=5000).fit(X)
        for parameters in ({"batch_size": 0}, {"n_iter": -1}, {"n_jobs": 0}, {"binarize": "yes"}):
            with self.assertRaises(ValueError):
                gorbm.BernoulliRBM(3, **parameters).fit(X)
        self.assertEqual(programs(os.getpid()), [])

    def test_verbose(self):
        code = "import sys; sys.path.insert(0, sys.argv[1]); import gorbm, numpy\ngorbm.BernoulliRBM(2, n_iter=3, verbose=1).fit(numpy.eye(20))\ngorbm.RBMClassifier(2, n_iter=2, verbose=1).fit(numpy.eye(20), [0, 1] * 10)"
        lines = subprocess.run([sys.executable, "-c", code, HERE], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
        self.assertEqual(len(lines), 5)
        self.assertRegex(lines[2], r"^\[BernoulliRBM\] Iteration 3, pseudo-likelihood = -[0-9.]+, time = [0-9.]+s$")
        self.assertRegex(lines[4], r"^\[RBMClassifier\] Iteration 2, error = [0-9.]+ %, time = [0-9.]+s$")


class TestPartialFit(unittest.TestCase):
    parameters = dict(n_components=3, batch_size=7, random_state=0, momentum=0.5, center=0.01, average=0.9)

    def test_learns(self):
        X = rows(2000)
        m = gorbm.BernoulliRBM(4, random_state=0)
        for part in np.split(X, 20) * 10:
            self.assertIs(m.partial_fit(part), m)
        whole = gorbm.BernoulliRBM(4, random_state=0, n_iter=10).fit(X)
        chance = gorbm.BernoulliRBM(4, random_state=0, n_iter=0).fit(X)
        scores = [e.score_samples(X).mean() for e in (chance, m, whole)]
        self.assertLess(scores[0], scores[1] - 1)
        self.assertLess(abs(scores[1] - scores[2]), 0.2)

    def test_continues(self):
        """Copies, pickles and forks continue exactly like the estimator."""
        X = rows(60)
        m = gorbm.BernoulliRBM(**self.parameters)
        for part in (X[:20], X[20:30]):
            m.partial_fit(part)
        resident = programs(os.getpid())
        self.assertEqual(len(resident), 1)
        copy = pickle.loads(pickle.dumps(m))
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.write(write, m.partial_fit(X[30:]).components_.tobytes())
                m._process.close()
            finally:
                os._exit(0)
        os.close(write)
        with os.fdopen(read, "rb") as f:
            forked = f.read()
        os.waitpid(child, 0)
        m.partial_fit(X[30:])
        self.assertEqual(programs(os.getpid()), resident)
        copy.partial_fit(X[30:])
        np.testing.assert_array_equal(m.components_, copy.components_)
        self.assertEqual(forked, m.components_.tobytes())
        self.assertEqual(len(programs(os.getpid())), 2)
        del m, copy
        self.assertEqual(programs(os.getpid()), [])

    def test_classes(self):
        X = rows(200)
        y = (X[:, 0] + X[:, 1]).astype(int)
        m = gorbm.RBMClassifier(5, random_state=0)
        with self.assertRaisesRegex(ValueError, "classes must be passed"):
            m.partial_fit(X, y)
        m.partial_fit(X[:3], y[:3], classes=[0, 1, 2])
        for _ in range(60):
            m.partial_fit(X, y)
        self.assertGreater(m.score(X, y), 0.97)
        with self.assertRaisesRegex(ValueError, "not among"):
            m.partial_fit(X, y + 1)

    def test_after_fit(self):
        X = rows(400)
        m = gorbm.BernoulliRBM(4, random_state=0, n_iter=50).fit(X)
        before = m.score_samples(X).mean()
        start = m.components_.copy()
        m.partial_fit(X)
        self.assertFalse(np.array_equal(m.components_, start))
        self.assertLess(np.abs(m.components_ - start).max(), 0.5)
        self.assertGreater(m.score_samples(X).mean(), before - 0.5)

    def test_settings(self):
        m = gorbm.BernoulliRBM(**self.parameters).partial_fit(rows())
        m.set_params(learning_rate=0.01).partial_fit(rows())  # a rate may change
        with self.assertRaisesRegex(ValueError, "other settings"):
            m.set_params(momentum=0.1).partial_fit(rows())
        with self.assertRaisesRegex(ValueError, "n_components is 2, but the model has 3"):
            m.set_params(n_components=2).partial_fit(rows())


@unittest.skipIf(sys.platform == "win32", "signals of POSIX")
class TestProcesses(unittest.TestCase):
    def test_interrupt(self):
        """Ctrl-C ends fit and keeps the model trained so far."""
        X = rows()
        m = gorbm.BernoulliRBM(4, n_iter=10**8, random_state=0)

        def interrupt():
            until(lambda: programs(os.getpid()))
            time.sleep(1)
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt).start()
        with self.assertRaises(KeyboardInterrupt):
            m.fit(X)
        self.assertGreater(m.n_steps_, 0)
        self.assertEqual(m.transform(X).shape, (40, 4))
        m.partial_fit(X)
        del m
        self.assertEqual(programs(os.getpid()), [])

    def test_parent_is_killed(self):
        """After kill -9 of the parent the program ends, also while another child of the parent holds the pipes."""
        code = (
            "import sys, os, time; sys.path.insert(0, sys.argv[1]); import gorbm, numpy\n"
            "m = gorbm.BernoulliRBM(4, n_iter=10**8)\n"
            "if sys.argv[2] == 'fork':\n"
            "    import threading; threading.Timer(0.5, lambda: os.fork() or time.sleep(20)).start()\n"
            "m.fit(numpy.eye(20))"
        )
        for how in ("alone", "fork"):
            parent = subprocess.Popen([sys.executable, "-c", code, HERE, how], start_new_session=True)
            self.assertTrue(until(lambda: programs(parent.pid)))
            time.sleep(1 if how == "fork" else 0)
            child = programs(parent.pid)[0]
            parent.kill()
            parent.wait()
            self.assertTrue(until(lambda: not is_program(child)), how)
            try:
                os.killpg(parent.pid, signal.SIGKILL)  # kills the fork
            except ProcessLookupError:
                pass

    def test_program_is_killed(self):
        m = gorbm.BernoulliRBM(4, random_state=0).partial_fit(rows())
        copy = pickle.loads(pickle.dumps(m))
        os.kill(programs(os.getpid())[0], signal.SIGKILL)
        m._process._child.wait()
        np.testing.assert_array_equal(m.partial_fit(rows()).components_, copy.partial_fit(rows()).components_)
        del m, copy

        def kill():
            until(lambda: programs(os.getpid()))
            os.kill(programs(os.getpid())[0], signal.SIGKILL)

        threading.Thread(target=kill).start()
        with self.assertRaisesRegex(gorbm.TrainingError, "ended with status -9"):
            gorbm.BernoulliRBM(4, n_iter=10**8).fit(rows())

    @needs_sklearn
    def test_joblib(self):
        from joblib import Parallel, delayed

        n, backends = (1000, ("loky", "threading")) if LONG else (20, ("threading",))
        for backend in backends:
            fits = Parallel(n_jobs=2, backend=backend)(delayed(fit_one)(seed % 10) for seed in range(n))
            for seed, components in enumerate(fits):
                np.testing.assert_array_equal(components, fit_one(seed) if seed < 10 else fits[seed % 10])
            self.assertEqual(all_programs(), [])


def fit_one(seed):
    return gorbm.BernoulliRBM(4, random_state=seed).fit(rows()).components_


def all_programs():
    """Return all gorbm-python processes from this run of the tests, including those whose parent has ended."""

    def ours(pid):
        try:
            with open(f"/proc/{pid}/environ", "rb") as f:
                return f"GORBM_TESTS={os.environ['GORBM_TESTS']}".encode() in f.read().split(b"\0")
        except OSError:
            return False

    return [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and is_program(int(pid)) and ours(pid)]


class TestWithoutSklearn(unittest.TestCase):
    def test(self):
        """The package needs only NumPy."""
        code = """
import sys
sys.path.insert(0, sys.argv[1])
for name in ("sklearn", "scipy", "joblib", "pandas"):
    sys.modules[name] = None
import pickle, gorbm, numpy as np
X = (np.random.RandomState(0).rand(40, 6) > 0.5).astype(float)
m = gorbm.BernoulliRBM(3, random_state=0)
try:
    m.transform(X)
except ValueError as e:
    assert "not fitted" in str(e), e
else:
    raise AssertionError("transform before fit")
assert m.fit_transform(X).shape == (40, 3)
assert repr(m) == "BernoulliRBM(n_components=3, random_state=0)", repr(m)
assert m.set_params(n_iter=2).get_params()["n_iter"] == 2
assert (pickle.loads(pickle.dumps(m)).transform(X) == m.transform(X)).all()
assert m.partial_fit(X).score_samples(X).shape == (40,)
for bad in (X[0], X[:, :5], X[:0], X * np.nan):
    try:
        m.transform(bad)
    except ValueError:
        pass
    else:
        raise AssertionError(bad.shape)
c = gorbm.RBMClassifier(5, random_state=0).fit(X, X[:, 0].astype(int))
assert c.score(X, X[:, 0].astype(int)) == 1
d = gorbm.RBMDensity(3, random_state=0).fit(X)
assert d.score(X) < 0 and d.sample(5).shape == (5, 6)
X[0, 0] = np.nan
assert np.isfinite(d.fill(X)).all()
"""
        subprocess.run([sys.executable, "-W", "error", "-c", code, HERE], check=True)


@unittest.skipUnless(LONG, "it takes some ten seconds")
@needs_sklearn
class TestEstimators(unittest.TestCase):
    """All checks that scikit-learn provides."""

    def check(self, estimator):
        from sklearn.utils.estimator_checks import check_estimator

        passed = 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for e, check in check_estimator(estimator, generate_only=True):
                with self.subTest(check=getattr(check, "func", check).__name__):
                    check(e)
                    passed += 1
        self.assertGreater(passed, 30)
        print(f"{estimator}: {passed} checks of scikit-learn {sklearn.__version__} passed", file=sys.stderr)

    def test_bernoulli_rbm(self):
        self.check(gorbm.BernoulliRBM())

    def test_density(self):
        self.check(gorbm.RBMDensity())

    def test_classifier(self):
        self.check(gorbm.RBMClassifier())

    def test_real(self):
        self.check(gorbm.RBMClassifier(units="gaussian"))
        self.check(gorbm.RBMDensity(units="gaussian", negphase="pcd"))
        self.check(gorbm.RBMDensity(units="gaussian:precision=learned", negphase="pcd"))


if __name__ == "__main__":
    unittest.main()
