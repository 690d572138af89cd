# SPDX-License-Identifier: MIT
"""A small language model on packed sequences: rows of 128 bytes hold several texts, and none sees another one.

The texts are the docstrings of Python's own modules, their bytes the tokens. Prints the loss of the first and of the last
steps, and how far the output for a text in a packed row is from that for the same text alone.
"""

import ast
import inspect
import pathlib

import numpy as np
import torch
from torch.nn.functional import cross_entropy, scaled_dot_product_attention

import lade.torch

ROW, WIDTH, HEADS = 128, 32, 4


def docstrings(count):
    for path in sorted(pathlib.Path(inspect.__file__).parent.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.FunctionDef) and ast.get_docstring(node):
                yield ast.get_docstring(node).encode()
                count -= 1
                if count == 0:
                    return


class Model(torch.nn.Module):
    """One block of a transformer."""

    def __init__(self):
        super().__init__()
        self.token, self.place = torch.nn.Embedding(256, WIDTH), torch.nn.Embedding(ROW, WIDTH)
        self.split, self.join = torch.nn.Linear(WIDTH, 3 * WIDTH), torch.nn.Linear(WIDTH, WIDTH)
        self.more = torch.nn.Sequential(torch.nn.LayerNorm(WIDTH), torch.nn.Linear(WIDTH, 4 * WIDTH), torch.nn.GELU(),
                                        torch.nn.Linear(4 * WIDTH, WIDTH))
        self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(WIDTH) for _ in range(2))
        self.out = torch.nn.Linear(WIDTH, 256)

    def forward(self, tokens, segments, positions):
        rows, steps = tokens.shape
        same = segments[:, :, None] == segments[:, None, :]  # a step attends to its own text
        mask = same & torch.ones(steps, steps, dtype=torch.bool).tril()  # and not to what follows
        x = self.token(tokens.long()) + self.place(positions.long())  # positions begin again with each text
        q, k, v = self.split(self.norms[0](x)).view(rows, steps, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        x = x + self.join(scaled_dot_product_attention(q, k, v, mask[:, None]).transpose(1, 2).reshape(rows, steps, WIDTH))
        x = x + self.more(x)
        return self.out(self.norms[1](x))


torch.manual_seed(1)
texts = [text[:ROW] for text in docstrings(800)]
source = {"text": lade.Ragged(np.frombuffer(b"".join(texts), np.uint8), np.cumsum([0] + [len(text) for text in texts]))}
loader = lade.torch.Loader(source, batch=8, seed=1, pack=ROW, ids=True)
model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
losses, used, trained = [], 0, []
for epoch in range(2):
    for batch in loader:
        tokens, segments = batch["text"], batch["segments"]
        logits = model(tokens, segments, batch["positions"])
        followed = (segments[:, 1:] == segments[:, :-1]) & (segments[:, 1:] > 0)  # the next byte is of the same text
        loss = cross_entropy(logits[:, :-1][followed], tokens[:, 1:][followed].long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        used += int((segments > 0).sum())
        trained += batch["ids"].tolist()
assert sorted(trained) == sorted(2 * list(range(len(texts))))

far = 0.0
with torch.no_grad():
    packed = model(tokens, segments, batch["positions"])
    for row in range(len(tokens)):
        for segment in range(1, int(segments[row].max()) + 1):
            chosen = segments[row] == segment
            alone = model(tokens[row][chosen][None], segments[row][chosen][None], batch["positions"][row][chosen][None])
            far = max(far, float((packed[row][chosen] - alone[0]).abs().max()))
first, last = np.mean(losses[:5]), np.mean(losses[-5:])
print(f"{len(losses)} steps, {100 * used / (len(losses) * 8 * ROW):.0f} % of them text; loss {first:.2f}, {last:.2f}; packed - alone {far:.1e}")
