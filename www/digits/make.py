"""Packs scikit-learn's digits into digits.bin; see README.md. Needs scikit-learn and numpy."""

import pathlib

import numpy as np
from sklearn.datasets import load_digits

digits = load_digits()
order = np.random.default_rng(0).permutation(len(digits.target))
rows = np.column_stack([digits.data[order], digits.target[order]]).astype(np.uint8)
pathlib.Path(__file__).with_name("digits.bin").write_bytes(rows.tobytes())
