"""The estimators."""

import functools
import json
import operator
import re
import threading
import warnings

import numpy as np

from . import _modelfile, _schema
from ._process import Process
from ._sklearn import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    DensityMixin,
    TransformerMixin,
    check_classification_targets,
    check_is_fitted,
    check_random_state,
    column_or_1d,
    may_be_nan,
    validate_data,
)

_TYPES = [np.float64, np.float32]
_LEARNED = "gaussian:precision=learned"


def _alone(method):
    """Make threads that share an estimator train it one after another."""

    @functools.wraps(method)
    def alone(self, *args, **kwargs):
        with self.__dict__.setdefault("_lock", threading.RLock()):
            return method(self, *args, **kwargs)

    return alone


class MixingWarning(UserWarning):
    """Chains have not mixed, or an estimate of log Z may be wrong."""


class TrainingWarning(UserWarning):
    """Training went wrong: the likelihood fell, weights are too large, or hidden units never change."""


def _sigmoid(x):
    """Return 1/(1+exp(-x)), without overflow for any x."""
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + e), e / (1 + e)).astype(x.dtype, copy=False)


def _softplus(x):
    """Return log(1+exp(x))."""
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def _chunks(n, width):
    """Return slices that cover n rows of width values, each of about a million values."""
    size = max(1, (1 << 20) // max(1, width))
    return [slice(lo, min(lo + size, n)) for lo in range(0, n, size)]


def _is_sparse(X):
    return hasattr(X, "tocsr")


class _RBM(BaseEstimator):
    """Base class of the estimators: training, scaling, and the state of partial_fit.

    Parameters
    ----------
    n_components : int
        Number of hidden units.
    learning_rate : float
        Learning rate at the start of fit.
    batch_size : int
        Number of rows of a minibatch.
    n_iter : int or "auto"
        Number of passes over the rows in fit. "auto" is 16, or more if 16 passes have fewer than 5000 steps.
    verbose : int
        Above 0, fit prints a line for each pass: the mean pseudo-log-likelihood, in nats, of up to 500 rows with values
        binarized at ½, or the error of a classifier on these rows.
    random_state : int, RandomState or None
        Equal seeds give equal results for any n_jobs.
    negphase : str
        Estimator of the negative phase of the gradient, as for rbmtrain: "pcd", "cd:k=5", "ins", "pt:tau=auto",
        "exact", …. The default number of chains without temperatures is batch_size; "pcd:chains=100" sets it.
    schedule : str
        "constant", "inverse", "inverse:STEPS", "linear" or "cosine". partial_fit uses "constant" in place of a schedule
        that depends on the number of steps.
    momentum, l1, l2, center, average, sparse : float
        As the flags of rbmtrain. 0: off.
    scale : "auto", "minmax", None, or (low, high)
        How values are mapped to [0, 1]. "minmax" maps the range of each feature in fit. "auto" does the same unless all
        values already lie in [0, 1]. (low, high) are two numbers, or two arrays with a number for each feature. Later
        values outside the range are clipped. None changes nothing, and refuses values outside [0, 1].
    binarize : "none" or "threshold"
        How values between 0 and 1 are used: as means of binary units, or as bits that are 1 from ½ up.
    n_jobs : int or None
        Number of processors for training. None: 1; -1: all.

    Attributes
    ----------
    components_ : array (n_components, n_features)
    intercept_hidden_ : array (n_components,)
    intercept_visible_ : array (n_features,)
    scale_low_, scale_high_ : arrays (n_features,)
        The values that are mapped to 0 and 1.
    n_steps_ : int
        Number of training steps.
    """

    _classes = 0  # number of label units
    _groups = ""  # kinds of the inputs, such as "softmax:3 bernoulli:2", if from_run found categories
    _schema = None  # columns of a table or sites of sequences, if from_run found them
    _found = False  # the run found the scale of its values, as by -scale auto
    units = "binary"

    def __init__(
        self,
        n_components=256,
        *,
        learning_rate=0.1,
        batch_size=10,
        n_iter=10,
        verbose=0,
        random_state=None,
        negphase="pcd",
        schedule="constant",
        momentum=0.0,
        l1=0.0,
        l2=0.0,
        center=0.0,
        average=0.0,
        sparse=0.0,
        scale="auto",
        binarize="none",
        n_jobs=None,
    ):
        self.n_components = n_components
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.n_iter = n_iter
        self.verbose = verbose
        self.random_state = random_state
        self.negphase = negphase
        self.schedule = schedule
        self.momentum = momentum
        self.l1 = l1
        self.l2 = l2
        self.center = center
        self.average = average
        self.sparse = sparse
        self.scale = scale
        self.binarize = binarize
        self.n_jobs = n_jobs

    # Rows.

    def _learn_scale(self, X):
        """Set scale_low_ and scale_high_, or means and deviations, from the rows of the first fit."""
        if self.units not in ("binary", "gaussian", _LEARNED):
            raise ValueError(f"units is {self.units!r}; there are 'binary', 'gaussian' and {_LEARNED!r}")
        self._groups, self._schema, self._found = "", None, False
        if self._real:
            self._learn_moments(X)
            return
        if self.binarize not in ("none", "threshold"):
            raise ValueError(f"binarize is {self.binarize!r}; there are 'none' and 'threshold'")
        width = X.shape[1]
        low, high = np.zeros(width), np.ones(width)
        if isinstance(self.scale, str) or self.scale is None:
            if self.scale not in ("auto", "minmax", None):
                raise ValueError(f"scale is {self.scale!r}; there are 'auto', 'minmax', None and a pair (low, high)")
            least, most = X.min(axis=0), X.max(axis=0)
            if _is_sparse(X):
                least, most = least.toarray().ravel(), most.toarray().ravel()
            if self.scale == "minmax" or self.scale == "auto" and (least.min() < 0 or most.max() > 1):
                low, high = least.astype(np.float64), most.astype(np.float64)
                high = np.where(high > low, high, low + 1)  # a constant feature becomes 0
        else:
            try:
                low, high = (np.broadcast_to(np.asarray(x, dtype=np.float64), (width,)).copy() for x in self.scale)
            except (TypeError, ValueError):
                raise ValueError(f"scale is {self.scale!r}; a pair holds two numbers, or two arrays of {width}") from None
            if not np.all(high > low):
                raise ValueError("scale is a pair (low, high), and every high must be above its low")
        self.scale_low_, self.scale_high_ = low, high

    def _learn_moments(self, X):
        """Set the mean and the standard deviation of each column; a deviation of 0 becomes 1."""
        if not (self.scale is None or isinstance(self.scale, str) and self.scale == "auto"):
            raise ValueError(f"scale is {self.scale!r}; with units='gaussian' there are 'auto', which standardises, and None")
        width = X.shape[1]
        self.mean_, self.scale_, self._constant = np.zeros(width), np.ones(width), np.zeros(width, dtype=bool)
        if self.scale is None:
            return
        X = X.toarray() if _is_sparse(X) else X
        first = X[0].astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            off = X - first  # avoids cancellation for large numbers that are close to each other
            mean = off.mean(axis=0)
            deviation = np.sqrt(((off - mean) ** 2).mean(axis=0))
        self.mean_ = first + mean
        if not np.all(np.isfinite(deviation)):
            raise ValueError("the columns of X spread so widely that their squares overflow; give them in larger units")
        self._constant = deviation == 0
        self.scale_ = np.where(self._constant, 1, deviation)

    def _unit(self, X):
        """Return rows as values of the units, in [0, 1] or standardised. The type of numbers does not change."""
        if self._real:
            X = X.toarray() if _is_sparse(X) else X
            return ((X - self.mean_) / self.scale_).astype(X.dtype)
        low, high = (x.astype(X.dtype) for x in (self.scale_low_, self.scale_high_))
        values = X.data if _is_sparse(X) else X
        if self._found and values.size and (values.min() < 0 or values.max() > 1):
            if values.min() < 0 or values.max() > 255:
                raise ValueError("values lie outside [0, 1] and are not bytes; scale them as the rows that the run was trained on")
            high = np.full_like(high, 255)
        if self.scale is None and values.size and (values.min() < 0 or values.max() > 1):
            raise ValueError("values lie outside [0, 1]; scale='minmax' maps them into it")
        if _is_sparse(X):
            if low.any():
                return self._unit(X.toarray())
            X = X.copy()
            X.data = np.clip(X.data / (high - low)[X.indices], 0, 1)
            values = X.data
        elif np.any(low != 0) or np.any(high != 1):
            X = values = np.clip((X - low) / (high - low), 0, 1)
        elif X.size and (X.min() < 0 or X.max() > 1):
            X = values = np.clip(X, 0, 1)
        if self.binarize == "threshold":
            cut = (values >= 0.5).astype(X.dtype)
            if not _is_sparse(X):
                return cut
            X.data = cut
        return X

    def _rows(self, X):
        """Return checked rows of a fitted estimator as values of its units."""
        check_is_fitted(self)
        return self._unit(self._checked(X, accept_sparse="csr"))

    def _checked(self, X, **arguments):
        """Return checked rows of a fitted estimator, with words of a table converted to units."""
        if self._schema is not None and self._schema.is_words(X):
            X = self._schema.encode(X)
        return validate_data(self, X, reset=False, dtype=_TYPES, **arguments)

    # Training.

    @property
    def _real(self):
        """Whether the inputs are real numbers."""
        return isinstance(self.units, str) and self.units.startswith("gaussian")

    def _rate(self):
        auto = isinstance(self.learning_rate, str) and self.learning_rate == "auto"
        return self._rates[self._real] if auto else self.learning_rate

    def _kinds(self):
        """Return the kinds of the inputs for gorbm-python."""
        return self._groups or (f"gaussian:{self.n_features_in_}" if self._real else "")

    def _gaussian(self):
        """Return an array of bools, true for inputs that are Gaussian units."""
        return np.concatenate([np.full(int(n), kind == "gaussian") for kind, n in (g.split(":") for g in self._kinds().split())])

    def _shape(self, hidden):
        """Return the units of a model for gorbm-python: the JSON of rbm.Shape."""
        kinds, classes = self._kinds(), self._classes
        return {
            "visible": self.n_features_in_ + classes,
            "hidden": operator.index(hidden),
            "classes": classes,
            "labels": "softmax" if classes else "",
            "groups": f"{kinds} softmax:{classes}:label" if kinds and classes else kinds,
        }

    def _settings(self):
        """Return the settings of training for gorbm-python."""
        return {
            **self._shape(self.n_components),
            "learn_precision": self.units == _LEARNED,
            "rate": float(self._rate()),
            "batch": operator.index(self.batch_size),
            "negphase": str(self.negphase),
            "schedule": str(self.schedule),
            "momentum": float(self.momentum),
            "l1": float(self.l1),
            "l2": float(self.l2),
            "center": float(self.center),
            "average": float(self.average),
            "sparse": float(self.sparse),
            "seed": self._seed,
            "base": isinstance(self, DensityMixin),
        }

    def _fit(self, X, y=None):
        self._forget()
        self.random_state_ = check_random_state(self.random_state)
        self._seed = int(self.random_state_.randint(2**31 - 1))
        self._learn_scale(X)
        header = self._settings()
        if header["batch"] < 1 or self.n_iter != "auto" and operator.index(self.n_iter) < 0:
            raise ValueError(f"batch_size is {self.batch_size} and n_iter {self.n_iter}; batch_size is at least 1 and n_iter at least 0, or 'auto'")
        a_pass = -(-X.shape[0] // header["batch"])
        passes = max(16, -(-5000 // a_pass)) if self.n_iter == "auto" else operator.index(self.n_iter)
        header.update(op="fit", steps=passes * a_pass, report=a_pass if self.verbose else 0)
        with Process(self.n_jobs) as process:
            answer, arrays = process.request(header, self._arrays(X, y), lambda report: self._print(report, a_pass))
        self._take(answer, arrays, X.dtype)
        if answer["stopped"]:
            raise KeyboardInterrupt
        for warning in answer["warnings"]:
            warnings.warn(warning["text"], MixingWarning if warning["kind"] == "mixing" else TrainingWarning, stacklevel=4)

    def _partial_fit(self, X, y=None):
        fitted = hasattr(self, "components_")
        if not fitted:
            self.random_state_ = check_random_state(self.random_state)
            self._seed = int(self.random_state_.randint(2**31 - 1))
            self._learn_scale(X)
        settings = self._settings()
        if settings["batch"] < 1:
            raise ValueError(f"batch_size is {self.batch_size}; it is at least 1")
        if fitted and settings["hidden"] != len(self.components_):
            raise ValueError(f"n_components is {self.n_components}, but the model has {len(self.components_)}; call fit to start again")
        state = getattr(self, "_state", None)
        process = getattr(self, "_process", None)
        header, arrays = dict(settings, op="partial_fit"), self._arrays(X, y)
        if state is None:
            header["begin"] = True
            if fitted:  # chains start at the rows, because random states are far from equilibrium of a trained model
                arrays.update(self._model())
                if re.match("(pcd|ins|pins|pt)(:|$)", settings["negphase"]) and ":start=" not in settings["negphase"]:
                    header["negphase"] += ":start=data"
        else:
            header["negphase"] = self._began
            if process is None or not process.alive or settings != self._last:
                arrays["state"] = state
        if process is None or not process.alive:
            process = self._process = Process(self.n_jobs)
        answer, arrays = process.request(header, arrays)
        self._take(answer, arrays, X.dtype if not fitted else self.components_.dtype)
        self._state, self._last, self._began = arrays["state"], settings, header["negphase"]
        if answer["stopped"]:
            raise KeyboardInterrupt

    def _forget(self):
        """Discard the state that partial_fit keeps between calls."""
        process = self.__dict__.pop("_process", None)
        if process is not None:
            process.close()
        for name in ("_state", "_last", "_began", "_log_z"):
            self.__dict__.pop(name, None)

    def __getstate__(self):
        state = dict(super().__getstate__())
        state.pop("_process", None)  # _state has its whole state
        state.pop("_lock", None)
        return state

    def _arrays(self, X, y):
        X = self._unit(X)
        if _is_sparse(X):
            if X.nnz > np.iinfo(np.int32).max:
                raise ValueError(f"a sparse array has {X.nnz} elements; at most {np.iinfo(np.int32).max} are allowed")
            arrays = {"data": X.data.astype("<f4"), "indices": X.indices.astype("<i4"), "indptr": X.indptr.astype("<i4")}
        else:
            arrays = {"x": np.ascontiguousarray(X, dtype="<f4")}
        if self._real:
            arrays["constant"] = self._constant.astype("|u1")
        if y is not None:
            arrays["y"] = np.ascontiguousarray(y, dtype="<i4")
        return arrays

    def _print(self, report, a_pass):
        if "error" in report:
            what = f"error = {100 * report['error']:.2f} %"
        elif "free_energy" in report:
            what = f"free energy = {report['free_energy']:.2f}"
        else:
            what = f"pseudo-likelihood = {report['pseudo_likelihood']:.2f}"
        print(f"[{type(self).__name__}] Iteration {report['step'] // a_pass}, {what}, time = {report['seconds']:.2f}s", flush=True)

    def _take(self, answer, arrays, dtype):
        """Set the attributes of a trained model."""
        self.__dict__.pop("_log_z", None)
        self.n_steps_ = answer["steps"]
        self._set_model(arrays, dtype)
        if "base_visible" in arrays:
            self._base = {name: arrays[name] for name in ("base_visible", "base_hidden")}

    def _set_model(self, arrays, dtype):
        n = self.n_features_in_
        self.components_ = np.ascontiguousarray(arrays["weights"][:n].T, dtype=dtype)
        self.intercept_hidden_ = arrays["hidden_bias"].astype(dtype)
        self.intercept_visible_ = arrays["visible_bias"][:n].astype(dtype)
        if self._real:
            self.precision_ = arrays["visible_precision"][:n].astype(dtype)

    def _model(self):
        """Return the model's arrays for gorbm-python."""
        arrays = {
            "weights": np.ascontiguousarray(self.components_.T, dtype="<f4"),
            "visible_bias": self.intercept_visible_.astype("<f4"),
            "hidden_bias": self.intercept_hidden_.astype("<f4"),
        }
        if self._real:
            arrays["visible_precision"] = np.append(self.precision_, np.ones(self._classes)).astype("<f4")
        return arrays

    @classmethod
    def from_run(cls, path, **params):
        """Open a model that rbmtrain has trained.

        path is the folder of a run, or a .safetensors file. scale and binarize, or means and deviations, are those of the
        run. If the run found the scale itself, X has values in [0, 1], or bytes if some are above 1: then 255 becomes 1.
        params are further parameters of the estimator. A model of a table accepts rows of words and numbers, one for
        each column of the table. A model of aligned sequences accepts strings. Both also accept rows of their units: for
        each column, a 0 or 1 for each level, of which exactly one is 1, or a single 0 or 1 if there are two levels.
        """
        arrays, about = _modelfile.read(path)
        classes, groups = int(about.get("classes", 0)), about["groups"]
        if classes and cls is not RBMClassifier:
            raise ValueError(f"{path} has {classes} label units; open it with RBMClassifier.from_run")
        if not classes and cls is RBMClassifier:
            raise ValueError(f"{path} has no labels; open it with {'' if groups else 'BernoulliRBM.from_run or '}RBMDensity.from_run")
        if groups and cls is BernoulliRBM:
            raise ValueError(f"{path} has inputs that are not bits ({groups:.40}); open it with RBMDensity.from_run")
        visible, hidden = arrays["weights"].shape
        low, high = 0.0, 1.0
        if "gaussian" in groups:
            precision = arrays["visible_precision"]  # 0 for other units
            learned = cls is RBMDensity and np.any((precision != 1) & (precision != 0))
            params.setdefault("units", _LEARNED if learned else "gaussian")
            scale = "auto"
        elif about.get("scale") == "spins":
            scale = low, high = -1.0, 1.0
        elif about.get("scale"):
            low, high = np.array([[float(x) for x in column.split(":")] for column in about["scale"].split(",")]).T
            scale = (low, high) if len(low) > 1 else (float(low[0]), float(high[0]))
        else:
            scale = low, high
        model = cls(n_components=hidden, scale=scale, binarize="threshold" if about.get("binarize") == "threshold" else "none", **params)
        n = model.n_features_in_ = visible - classes
        if model._real:
            model.mean_ = np.array(json.loads(about.get("means", "null")) or np.zeros(n))
            model.scale_ = np.array(json.loads(about.get("deviations", "null")) or np.ones(n))
            model._constant = model.scale_ == 0
            model.scale_[model._constant] = 1
            if " " in groups or about.get("schema"):
                model._groups, model._schema = groups, _schema.parse(about.get("schema"))
        else:
            model.scale_low_, model.scale_high_ = (np.broadcast_to(x, (n,)).astype(np.float64) for x in (low, high))
            model._groups, model._schema = groups, _schema.parse(about.get("schema"))
            model._found = not about.get("scale") and not groups
        if "columns" in about and model._schema is None:
            model.feature_names_in_ = np.array(json.loads(about["columns"]), dtype=object)
        model._seed = int(about.get("seed", 1)) % (2**31 - 1)
        model.random_state_ = check_random_state(model.random_state)
        model.n_steps_ = 0
        if classes:
            model._set_classes(np.asarray(_numbers(json.loads(about.get("class_names", "null")) or range(classes))))
        model._set_model(arrays, np.float64)
        return model

    # The model.

    def _hidden_input(self, X):
        return np.asarray(X @ self.components_.T.astype(X.dtype, copy=False)) + self.intercept_hidden_.astype(X.dtype, copy=False)

    def _free_energy(self, X):
        """Return F(x) = -bᵀx - Σ_j log(1+exp(c_j + (Wx)_j)), in nats, plus Σ_i γ_i x_i²/2 over Gaussian units."""
        F = np.empty(X.shape[0], dtype=X.dtype)
        for rows in _chunks(X.shape[0], self.components_.shape[0]):
            x = X[rows]
            F[rows] = -np.asarray(x @ self.intercept_visible_.astype(X.dtype)) - _softplus(self._hidden_input(x)).sum(axis=1)
            if self._real:
                F[rows] += x**2 @ (self.precision_.astype(X.dtype) / 2)
        return F

    def _more_tags(self):
        return {"preserves_dtype": _TYPES}

    def __sklearn_tags__(self):  # scikit-learn 1.6 and later
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        if tags.transformer_tags is not None:
            tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _numbers(names):
    """Return names as integers if all are integers."""
    names = list(names)
    try:
        return [int(x) for x in names]
    except ValueError:
        return names


class _Transformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _RBM):
    """An RBM without labels, whose features are the means of the hidden units."""

    @property
    def _n_features_out(self):
        return self.components_.shape[0]

    @_alone
    def fit(self, X, y=None):
        """Train on the rows of X, an array or a sparse array (n_samples, n_features); y is ignored.

        Ctrl-C stops training; the estimator keeps the current model.
        """
        self._fit(validate_data(self, X, accept_sparse="csr", dtype=_TYPES))
        return self

    @_alone
    def partial_fit(self, X, y=None):
        """Take a training step for every batch_size rows of X, in order, and return self.

        The first call sets the scale from its rows; give (low, high) as scale if these are few. Chains, momentum and
        averages continue between calls, and in copies and pickles. After fit, training continues from its model, with new
        chains that start at the rows.
        """
        first = not hasattr(self, "components_")
        self._partial_fit(validate_data(self, X, accept_sparse="csr", dtype=_TYPES, reset=first))
        return self

    def transform(self, X):
        """Return p(h=1|x), an array (n_samples, n_components) of the type of X."""
        return _sigmoid(self._hidden_input(self._rows(X)))


class BernoulliRBM(_Transformer):
    """Bernoulli restricted Boltzmann machine: features for a pipeline, with scikit-learn's parameters and attributes.

    There is no attribute h_samples_, because gorbm-python keeps the chains.
    """

    __doc__ += _RBM.__doc__[_RBM.__doc__.index("\n\n") :]

    def score_samples(self, X):
        """Return the pseudo-log-likelihood Σ_i log p(x_i | the other features) of each row, in nats.

        scikit-learn's BernoulliRBM returns a random term of this sum, times the number of features, whose mean is this
        sum. The time is proportional to n_samples · n_features · n_components.
        """
        X = self._rows(X)
        W, b = self.components_.astype(X.dtype, copy=False), self.intercept_visible_.astype(X.dtype, copy=False)
        total = np.zeros(X.shape[0], dtype=X.dtype)
        for rows in _chunks(X.shape[0], W.shape[0]):
            x = X[rows]
            x = x.toarray() if _is_sparse(x) else x
            a = self._hidden_input(x)
            before = _softplus(a).sum(axis=1)
            for i in range(W.shape[1]):
                to = 1 - 2 * x[:, i]
                rise = before - _softplus(a + to[:, None] * W[:, i]).sum(axis=1) - b[i] * to  # F with unit i flipped - F
                total[rows] -= _softplus(-rise)
        return total

    def gibbs(self, v):
        """Return visible states (n_samples, n_features) after one Gibbs step from v."""
        check_is_fitted(self)
        v = np.asarray(v, dtype=np.float64)
        h = self.random_state_.uniform(size=(v.shape[0], self._n_features_out)) < _sigmoid(self._hidden_input(v))
        p = _sigmoid(h @ self.components_.astype(np.float64) + self.intercept_visible_)
        return self.random_state_.uniform(size=p.shape) < p


class RBMDensity(DensityMixin, _Transformer):
    """Density of binary or real rows: log-likelihoods with log Z, samples, missing values, and features.

    By default values between 0 and 1 become bits by a threshold at ½, because the model is a distribution of bits. log Z
    is computed when it is first needed: by enumeration if that takes less than a second, otherwise by annealed importance
    sampling, its reverse and Bennett's ratio, which may take a minute. A MixingWarning gives the reason if an estimate may
    be wrong.

    Further parameters and attributes; learning_rate="auto" is 0.2, or 0.05 for real rows:

    units : "binary", "gaussian" or "gaussian:precision=learned"
        Gaussian units represent any numbers. fit standardises each column unless scale is None; densities and samples are
        in the units of the rows. Given the hidden units, each number has a normal distribution with precision 1 or a
        learned precision. Learned precisions give better densities, but overfit sooner.
    mean_, scale_, precision_ : arrays (n_features,)
        For Gaussian units, instead of scale_low_ and scale_high_: mean and standard deviation of each column, and the
        precision of the standardised column. A standard deviation of 0 is replaced by 1.
    """

    __doc__ += _RBM.__doc__[_RBM.__doc__.index("\n\n") :]

    def __init__(
        self,
        n_components=100,
        *,
        learning_rate="auto",
        batch_size=50,
        n_iter="auto",
        verbose=0,
        random_state=None,
        negphase="ins:chains=40",
        schedule="cosine",
        momentum=0.0,
        l1=0.0,
        l2=0.0,
        center=0.01,
        average=0.0,
        sparse=0.0,
        scale="auto",
        binarize="threshold",
        units="binary",
        n_jobs=None,
    ):
        super().__init__(
            n_components,
            learning_rate=learning_rate,
            batch_size=batch_size,
            n_iter=n_iter,
            verbose=verbose,
            random_state=random_state,
            negphase=negphase,
            schedule=schedule,
            momentum=momentum,
            l1=l1,
            l2=l2,
            center=center,
            average=average,
            sparse=sparse,
            scale=scale,
            binarize=binarize,
            n_jobs=n_jobs,
        )
        self.units = units

    _rates = (0.2, 0.05)  # learning_rate="auto" for bits and for numbers

    def _partition(self):
        check_is_fitted(self)
        if not hasattr(self, "_log_z"):
            with Process(self.n_jobs) as process:
                answer, _ = process.request(dict(self._shape(len(self.components_)), op="log_z", seed=self._seed), dict(self._model(), **getattr(self, "_base", {})))
            for name in ("log_z", "std_err", "low", "high"):
                if answer[name] is None:
                    answer[name] = np.nan
            for text in answer["warnings"]:
                warnings.warn(text, MixingWarning, stacklevel=3)
            self._log_z = answer
        return self._log_z

    @property
    def log_z_(self):
        """log Z, in nats; NaN if there is no estimate."""
        return self._partition()["log_z"]

    @property
    def log_z_std_error_(self):
        """Standard error of log_z_; 0 if it is exact."""
        return self._partition()["std_err"]

    @property
    def log_z_bracket_(self):
        """Estimates of log Z by annealed importance sampling, too low on average, and its reverse, too high; both log_z_ if that is exact."""
        answer = self._partition()
        return answer["low"], answer["high"]

    def score_samples(self, X):
        """Return log p(x) = -F(x) - log Z of each row, in nats, for the bits that scale and binarize make of X."""
        X = self._rows(X)
        shift = self.log_z_
        if self._real:
            shift += np.log(self.scale_).sum()  # scale_ is 1 for units that are not numbers
        return (-self._free_energy(X) - shift).astype(X.dtype)

    def score(self, X, y=None):
        """Return the mean of score_samples."""
        return float(np.mean(self.score_samples(X)))

    def sample(self, n_samples=1, X=None):
        """Return n_samples samples of the model, in the units of the training rows.

        If X is given, half of the chains start at rows of X and the others at random states. The samples are good if both
        halves agree; otherwise there is a MixingWarning.
        """
        check_is_fitted(self)
        arrays = {} if X is None else self._arrays(self._checked(X), None)
        answer, drawn = self._draw("sample", arrays, n_samples)
        if not answer["mixed"]:
            warnings.warn(f"chains have not mixed: {answer['why']}", MixingWarning, stacklevel=2)
        x = self._back(drawn["x"]) if self._real or self._schema is None else drawn["x"]
        return x if self._schema is None else self._schema.decode(x)

    def fill(self, X):
        """Return X with each NaN replaced by its mean given the known values of its row.

        The means are exact if the missing values of a row, or the hidden units, have few states, such as those of 14 bits.
        Otherwise they are estimates by Gibbs chains, with a MixingWarning if they may be far off. Known values become bits, unless units is
        "gaussian".
        """
        check_is_fitted(self)
        words = self._schema is not None and self._schema.is_words(X)
        X = self._checked(X, **may_be_nan).copy()
        holes = np.isnan(X)
        rows = np.flatnonzero(holes.any(axis=1))
        if len(rows) == 0:
            return self._schema.decode(X) if words else X
        given = self._unit(np.where(holes, 0, X)[rows])
        if not self._real:
            given = given >= 0.5
        elif self._groups:  # other units are bits
            given = np.where(self._gaussian(), given, given >= 0.5)
        given = np.where(holes[rows], np.float32(np.nan), given.astype("<f4"))
        answer, filled = self._draw("fill", {"given": given}, 1)
        if answer["std_err"] > 0.05:
            warnings.warn(f"the means of {answer['estimated']} rows are estimates, with standard errors of up to {answer['std_err']:.2g}", MixingWarning, stacklevel=2)
        mean = self._back(filled["mean"]) if self._real or not words else filled["mean"]
        X[rows] = np.where(holes[rows], mean, X[rows])
        return self._schema.decode(X) if words else X

    def _draw(self, op, arrays, n_samples):
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        with Process(self.n_jobs) as process:
            return process.request(dict(self._shape(len(self.components_)), op=op, samples=operator.index(n_samples), seed=seed), dict(self._model(), **arrays))

    def _back(self, x):
        """Convert values of the units to the scale of the training rows."""
        if self._real:
            return (self.mean_ + x * self.scale_).astype(self.components_.dtype)
        return (self.scale_low_ + x * (self.scale_high_ - self.scale_low_)).astype(self.components_.dtype)


class RBMClassifier(ClassifierMixin, _RBM):
    """Classification restricted Boltzmann machine (Larochelle, Mandel, Pascanu & Bengio 2012).

    Further parameters and attributes; learning_rate="auto" is 0.05:

    objective : "auto", "hybrid", "discriminative" or "joint"
        What training maximises. "hybrid": log p(y|x) + alpha log p(x,y). "discriminative": log p(y|x), by its exact
        gradient, without a negative phase. "joint": log p(x,y). "auto": "discriminative" if units is "gaussian",
        otherwise "hybrid".
    alpha : float
        Weight of log p(x,y) in "hybrid".
    units : "binary" or "gaussian"
        "gaussian" is for any numbers. Each column is standardised unless scale is None.
    classes_ : array (n_classes,)
    class_components_ : array (n_components, n_classes)
    intercept_class_ : array (n_classes,)
    mean_, scale_ : arrays (n_features,)
        If units is "gaussian", instead of scale_low_ and scale_high_: mean and standard deviation of each column. A
        standard deviation of 0 is replaced by 1.
    """

    __doc__ += _RBM.__doc__[_RBM.__doc__.index("\n\n") :]

    def __init__(
        self,
        n_components=100,
        *,
        objective="auto",
        alpha=0.01,
        learning_rate="auto",
        batch_size=20,
        n_iter="auto",
        verbose=0,
        random_state=None,
        negphase="pcd",
        schedule="linear",
        momentum=0.9,
        l1=0.0,
        l2=0.0,
        center=0.0,
        average=0.0,
        sparse=0.0,
        scale="auto",
        binarize="none",
        units="binary",
        n_jobs=None,
    ):
        super().__init__(
            n_components,
            learning_rate=learning_rate,
            batch_size=batch_size,
            n_iter=n_iter,
            verbose=verbose,
            random_state=random_state,
            negphase=negphase,
            schedule=schedule,
            momentum=momentum,
            l1=l1,
            l2=l2,
            center=center,
            average=average,
            sparse=sparse,
            scale=scale,
            binarize=binarize,
            n_jobs=n_jobs,
        )
        self.units = units
        self.objective = objective
        self.alpha = alpha

    _rates = (0.05, 0.05)  # learning_rate="auto" for bits and for numbers

    def _settings(self):
        objective = str(self.objective)
        if objective == "auto":
            objective = "discriminative" if self._real else "hybrid"
        return dict(super()._settings(), objective=objective, alpha=float(self.alpha) if objective == "hybrid" else 0.0)

    def _set_classes(self, classes):
        self.classes_ = classes
        self._classes = len(classes)

    @_alone
    def fit(self, X, y):
        """Train on the rows of X, an array or a sparse array (n_samples, n_features), and their classes y.

        Ctrl-C stops training; the estimator keeps the current model.
        """
        X, y = validate_data(self, X, y=y, accept_sparse="csr", dtype=_TYPES)
        check_classification_targets(y)
        classes, y = np.unique(y, return_inverse=True)
        self._set_classes(classes)
        self._fit(X, y)
        return self

    @_alone
    def partial_fit(self, X, y, classes=None):
        """Take a training step for every batch_size rows, as partial_fit of BernoulliRBM does, and return self.

        classes lists all classes that y may have in any call; the first call needs it.
        """
        first = not hasattr(self, "components_")
        X, y = validate_data(self, X, y=y, accept_sparse="csr", dtype=_TYPES, reset=first)
        check_classification_targets(y)
        if first:
            if classes is None:
                raise ValueError("classes must be passed on the first call to partial_fit.")
            self._set_classes(np.unique(column_or_1d(classes)))
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {self.classes_!r}")
        numbers = np.searchsorted(self.classes_, y)
        if not np.array_equal(self.classes_[np.minimum(numbers, len(self.classes_) - 1)], y):
            raise ValueError(f"y has classes that are not among {self.classes_!r}")
        self._partial_fit(X, numbers)
        return self

    def _set_model(self, arrays, dtype):
        super()._set_model(arrays, dtype)
        n = self.n_features_in_
        self.class_components_ = np.ascontiguousarray(arrays["weights"][n:].T, dtype=dtype)
        self.intercept_class_ = arrays["visible_bias"][n:].astype(dtype)

    def _model(self):
        model = super()._model()
        model["weights"] = np.concatenate([model["weights"], self.class_components_.T.astype("<f4")])
        model["visible_bias"] = np.concatenate([model["visible_bias"], self.intercept_class_.astype("<f4")])
        return model

    def predict_log_proba(self, X):
        """Return log p(y|x), an array (n_samples, n_classes)."""
        X = self._rows(X)
        scores = np.empty((X.shape[0], len(self.classes_)), dtype=X.dtype)
        for rows in _chunks(X.shape[0], self.components_.shape[0]):
            a = self._hidden_input(X[rows])
            for k in range(len(self.classes_)):
                scores[rows, k] = self.intercept_class_[k] + _softplus(a + self.class_components_[:, k].astype(X.dtype)).sum(axis=1)
        scores -= scores.max(axis=1, keepdims=True)
        return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))

    def predict_proba(self, X):
        """Return p(y|x), an array (n_samples, n_classes)."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X):
        """Return the most probable class of each row."""
        likeliest = np.argmax(self.predict_log_proba(X), axis=1)
        return self.classes_[likeliest]
