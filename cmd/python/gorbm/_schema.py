"""Converts rows of tables and aligned sequences to units of a model and back, like data.Schema in Go."""

import json

import numpy as np


def parse(text):
    """Return the schema of a model file's metadata, or None if there is none."""
    if not text:
        return None
    if text.startswith("sequences "):
        _, sites, letters = text.split(" ", 2)
        return Schema([{"name": str(i + 1), "levels": list(letters)} for i in range(int(sites))], sequences=True)
    return Schema(json.loads(text)["columns"])


class Schema:
    """Columns of a table, or sites of sequences.

    A column with two levels is a single unit, which is 1 for the second level. A column with more levels has a unit for
    each, of which exactly one is 1. A column of numbers is a single unit with the number.
    """

    def __init__(self, columns, sequences=False):
        self.columns = columns
        self.sequences = sequences
        widths = [1 if c.get("bit") or c.get("number") else len(c["levels"]) for c in columns]
        self.ends = np.cumsum(widths)
        self.starts = self.ends - widths

    def is_words(self, X):
        """Whether X has words and numbers of a table, or sequences, rather than units."""
        if hasattr(X, "tocsr"):
            return False
        if all(c["name"] in getattr(X, "columns", ()) for c in self.columns):
            return True
        X = np.asarray(X)
        return X.dtype.kind in "OUS" or X.ndim == 2 and X.shape[1] == len(self.columns) != self.ends[-1]

    def encode(self, X):
        """Return rows as units (n_samples, n_units). Units of missing cells (empty, None or NaN) are NaN.

        If X is a data frame with the column names of the table, its columns may have any order.
        """
        names = [c["name"] for c in self.columns]
        if set(names) <= set(getattr(X, "columns", ())):
            X = X[names]
        X = np.asarray(X, dtype=object)
        if self.sequences and X.ndim == 1:
            lengths = {len(x) for x in X} - {len(self.columns)}
            if lengths:
                raise ValueError(f"a sequence has {min(lengths)} letters; those of the model have {len(self.columns)}")
            X = np.array([list(x) for x in X], dtype=object)
        if X.ndim != 2 or X.shape[1] != len(self.columns):
            raise ValueError(f"X has the shape {X.shape}; the table of the model has {len(self.columns)} columns, which are {self.ends[-1]} units")
        units = np.zeros((len(X), self.ends[-1]))
        for c, lo, hi, cells in zip(self.columns, self.starts, self.ends, X.T):
            for r, cell in enumerate(cells):
                k = _number(c, cell, r) if c.get("number") else _level(c, cell, r)
                if k is None:
                    units[r, lo:hi] = np.nan
                elif hi - lo > 1:
                    units[r, lo + k] = 1
                else:
                    units[r, lo] = k
        return units

    def decode(self, units):
        """Return rows of words: for each column the level with the largest unit, or the number."""
        words = np.empty((len(units), len(self.columns)), dtype=object)
        for j, (c, lo, hi) in enumerate(zip(self.columns, self.starts, self.ends)):
            if c.get("number"):
                words[:, j] = units[:, lo]
                continue
            k = np.argmax(units[:, lo:hi], axis=1) if hi - lo > 1 else (units[:, lo] >= 0.5).astype(int)
            words[:, j] = np.array(c["levels"], dtype=object)[k]
        return np.array(["".join(row) for row in words], dtype=object) if self.sequences else words


def _number(column, cell, row):
    """Return the number of a cell, or None if it is missing."""
    if cell is None or cell == "" or cell != cell:
        return None
    try:
        return float(cell)
    except (TypeError, ValueError):
        raise ValueError(f"row {row}, column {column['name']}: {str(cell)!r:.40} is not a number, unlike the others of its column") from None


def _level(column, cell, row):
    """Return the index of a cell's level, or None if it is missing."""
    if cell is None or cell == "" or cell != cell:
        return None
    try:
        if column.get("edges") is not None:
            return int(np.searchsorted(column["edges"], float(cell), side="right"))
        if isinstance(cell, (float, np.floating)) and cell == int(cell):
            cell = int(cell)
        return column["levels"].index(str(cell))
    except ValueError:
        some = ", ".join(column["levels"][:8])
        raise ValueError(f"row {row}, column {column['name']}: {str(cell)!r:.40} is none of its levels, {some}") from None
