"""Restricted Boltzmann machines with a negative phase of choice, as scikit-learn estimators."""

from ._estimators import BernoulliRBM, MixingWarning, RBMClassifier, RBMDensity, TrainingWarning
from ._process import TrainingError

__version__ = "0.1.0"
__all__ = ["BernoulliRBM", "MixingWarning", "RBMClassifier", "RBMDensity", "TrainingError", "TrainingWarning"]
