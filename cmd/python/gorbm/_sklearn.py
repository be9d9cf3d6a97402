"""Imports from scikit-learn, or replacements if it is not installed.

With the replacements the estimators need only NumPy: parameters, checks of arrays and scores work. Pipelines, grid
searches and set_output need scikit-learn.
"""

import inspect

import numpy as np

try:
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        ClassNamePrefixFeaturesOutMixin,
        DensityMixin,
        TransformerMixin,
    )
    from sklearn.exceptions import NotFittedError
    from sklearn.utils import check_random_state
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, column_or_1d

    try:
        from sklearn.utils.validation import validate_data  # 1.6 and later

        may_be_nan = {"ensure_all_finite": "allow-nan"}
    except ImportError:
        may_be_nan = {"force_all_finite": "allow-nan"}

        def validate_data(estimator, X, **arguments):
            return estimator._validate_data(X, **arguments)

except ImportError:
    may_be_nan = {"finite": False}

    class NotFittedError(ValueError, AttributeError):
        """An estimator is used before fit."""

    class BaseEstimator:
        def get_params(self, deep=True):
            return {name: getattr(self, name) for name in inspect.signature(type(self).__init__).parameters if name != "self"}

        def set_params(self, **params):
            known = self.get_params()
            for name, value in params.items():
                if name not in known:
                    raise ValueError(f"Invalid parameter {name!r} for estimator {self!r}. Valid parameters are: {sorted(known)}.")
                setattr(self, name, value)
            return self

        def __repr__(self):
            defaults = {p.name: p.default for p in inspect.signature(type(self).__init__).parameters.values()}
            changed = {k: v for k, v in self.get_params().items() if v is not defaults[k] and v != defaults[k]}
            return type(self).__name__ + "(" + ", ".join(f"{k}={v!r}" for k, v in changed.items()) + ")"

        def __getstate__(self):
            return dict(self.__dict__)

    class ClassNamePrefixFeaturesOutMixin:
        def get_feature_names_out(self, input_features=None):
            name = type(self).__name__.lower()
            return np.asarray([f"{name}{i}" for i in range(self._n_features_out)], dtype=object)

    class TransformerMixin:
        def fit_transform(self, X, y=None):
            return self.fit(X, y).transform(X)

    class ClassifierMixin:
        def score(self, X, y):
            return float(np.mean(self.predict(X) == np.asarray(y)))

    class DensityMixin:
        pass

    def check_random_state(seed):
        if seed is None:
            return np.random.mtrand._rand
        return seed if isinstance(seed, np.random.RandomState) else np.random.RandomState(seed)

    def check_is_fitted(estimator):
        if not any(name.endswith("_") and not name.startswith("_") for name in vars(estimator)):
            raise NotFittedError(f"This {type(estimator).__name__} instance is not fitted yet; call fit first.")

    def column_or_1d(y, warn=False):
        y = np.asarray(y)
        if y.ndim == 2 and y.shape[1] == 1:
            y = y.ravel()
        if y.ndim != 1:
            raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
        return y

    def check_classification_targets(y):
        if np.asarray(y).dtype.kind == "f" and np.any(np.asarray(y) != np.floor(y)):
            raise ValueError("Unknown label type: continuous")

    def validate_data(estimator, X, y=None, reset=True, dtype=None, accept_sparse=None, finite=True):
        names = None
        if hasattr(X, "columns"):
            names = np.asarray([str(c) for c in X.columns], dtype=object)
        if hasattr(X, "tocsr"):
            X = X.tocsr()
            values = X.data = np.asarray(X.data, dtype=X.data.dtype if X.data.dtype in dtype else dtype[0])
        else:
            X = np.asarray(X)
            X = values = X if X.dtype in dtype else X.astype(dtype[0])
        if X.ndim != 2 or 0 in X.shape:
            raise ValueError(f"X has the shape {X.shape}; it must have at least one row and one feature")
        if finite and not np.all(np.isfinite(values)):
            raise ValueError("Input X contains NaN or infinity.")
        if reset:
            estimator.n_features_in_ = X.shape[1]
            if names is not None:
                estimator.feature_names_in_ = names
        elif X.shape[1] != estimator.n_features_in_:
            raise ValueError(f"X has {X.shape[1]} features, but {type(estimator).__name__} is expecting {estimator.n_features_in_} features as input.")
        if y is None:
            return X
        y = column_or_1d(y)
        if len(y) != X.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows, but y has {len(y)}")
        return X, y
