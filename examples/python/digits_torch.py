# SPDX-License-Identifier: MIT
"""scikit-learn's digits in PyTorch: a split by lade, and a loader in DataLoader's place. Prints the test accuracy."""

import numpy as np
import torch
from sklearn.datasets import load_digits

import lade
import lade.torch

torch.manual_seed(1)
digits = load_digits()
x, y = (digits.data / 16).astype(np.float32), digits.target.astype(np.int64)

split = lade.Split([8, 2], seed=1)  # part 0 for training, 1 for the test
training = lade.torch.Loader((x, y), batch=32, seed=1, split=split, part=0)
test = lade.torch.Loader((x, y), batch=256, split=split, part=1, shuffle=False)

model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(60):
    for samples, labels in training:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(samples), labels).backward()
        optimizer.step()

with torch.no_grad():
    right = [(model(samples).argmax(1) == labels) for samples, labels in test]
right = torch.cat(right)
print(f"test accuracy {100 * right.float().mean():.1f} % of {len(right)}")
