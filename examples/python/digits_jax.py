# SPDX-License-Identifier: MIT
"""scikit-learn's digits in JAX: a split by lade, and batches as arrays of JAX. Prints the test accuracy."""

import jax
import jax.numpy as jnp
import numpy as np
from sklearn.datasets import load_digits

import lade
import lade.jax

digits = load_digits()
x, y = (digits.data / 16).astype(np.float32), digits.target.astype(np.int32)

split = lade.Split([8, 2], seed=1)  # part 0 for training, 1 for the test
training = lade.jax.Loader((x, y), batch=32, seed=1, split=split, part=0, drop_last=True)  # one shape: compiled once
test = lade.jax.Loader((x, y), batch=256, split=split, part=1, shuffle=False)


def predict(model, samples):
    return jax.nn.relu(samples @ model["w1"] + model["b1"]) @ model["w2"] + model["b2"]


def loss(model, samples, labels):
    return -jnp.take_along_axis(jax.nn.log_softmax(predict(model, samples)), labels[:, None], 1).mean()


@jax.jit
def step(model, speed, samples, labels):
    speed = jax.tree.map(lambda v, slope: 0.9 * v - 0.2 * slope, speed, jax.grad(loss)(model, samples, labels))
    return jax.tree.map(jnp.add, model, speed), speed


keys = jax.random.split(jax.random.key(1))
model = {"w1": 0.1 * jax.random.normal(keys[0], (64, 1024)), "b1": jnp.zeros(1024),
         "w2": 0.1 * jax.random.normal(keys[1], (1024, 10)), "b2": jnp.zeros(10)}
speed = jax.tree.map(jnp.zeros_like, model)
for epoch in range(50):
    for samples, labels in training:
        model, speed = step(model, speed, samples, labels)

right = np.concatenate([predict(model, samples).argmax(1) == labels for samples, labels in test])
print(f"test accuracy {100 * right.mean():.1f} % of {len(right)}")
