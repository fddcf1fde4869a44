"""Estimators in the manner of scikit-learn, fitted over workers. Needs the extra `sklearn`."""

from deadheat.jobs.estimators import LinearRegressor, LogisticClassifier
