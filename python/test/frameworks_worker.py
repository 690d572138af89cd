# SPDX-License-Identifier: MIT
"""A rank of test_frameworks.py: trains one epoch and writes the samples of each step to a file.

Arguments: framework, folder, steps after which to save a checkpoint and stop (0: to the end, from the checkpoint if there is one).
"""

import os
import sys

import numpy as np
import torch

import lade.torch

COUNT, BATCH = 120, 4


class Model(torch.nn.Module):
    def __init__(self, seen):
        super().__init__()
        self.linear, self.seen = torch.nn.Linear(1, 1), seen

    def forward(self, x, labels):
        print(*x.tolist(), file=self.seen, flush=True)
        return {"loss": (self.linear(x[:, None] / COUNT) ** 2).mean() + 0 * labels.sum()}


def with_accelerate(loader, model, folder, stop):
    import accelerate

    accelerator = accelerate.Accelerator(cpu=True)
    model, optimizer, prepared = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.1), loader)
    assert prepared is loader
    accelerator.register_for_checkpointing(loader)
    path = os.path.join(folder, "checkpoint")
    if os.path.exists(path):
        accelerator.load_state(path)
    for step, batch in enumerate(loader, 1):
        accelerator.backward(model(**batch)["loss"])
        optimizer.step()
        if step == stop:
            accelerator.save_state(path)
            break


def with_lightning(loader, model, folder, stop):
    import lightning

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.model = model

        def training_step(self, batch, _):
            return self.model(**batch)["loss"]

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

    path = os.path.join(folder, "step.ckpt")
    save = lightning.pytorch.callbacks.ModelCheckpoint(folder, "step", every_n_train_steps=stop, save_on_train_epoch_end=False)
    trainer = lightning.Trainer(accelerator="cpu", devices=int(os.environ["WORLD_SIZE"]), strategy="ddp", max_epochs=1,
                                max_steps=stop or -1, logger=False, enable_progress_bar=False, enable_model_summary=False,
                                callbacks=[save] if stop else [], enable_checkpointing=bool(stop))
    trainer.fit(Module(), loader, ckpt_path=None if stop else path)


def with_trainer(loader, model, folder, stop):
    import transformers
    import lade.huggingface

    class Stop(transformers.TrainerCallback):
        def on_step_end(self, args, state, control, **_):
            control.should_training_stop = control.should_save = state.global_step == stop

    arguments = transformers.TrainingArguments(folder, use_cpu=True, num_train_epochs=1, per_device_train_batch_size=BATCH,
                                               save_strategy="no", report_to="none", disable_tqdm=True)
    trainer = lade.huggingface.Trainer(model=model, args=arguments, train_loader=loader, callbacks=[Stop()] if stop else [])
    trainer.train(resume_from_checkpoint=not stop)


def main():
    framework, folder, stop = sys.argv[1], sys.argv[2], int(sys.argv[3])
    x = np.arange(COUNT, dtype=np.float32)
    with open(os.path.join(folder, f"seen-{stop}-{os.environ['RANK']}"), "w", encoding="utf-8") as seen:
        with lade.torch.Loader({"x": x, "labels": x}, batch=BATCH, seed=5) as loader:
            {"accelerate": with_accelerate, "lightning": with_lightning, "trainer": with_trainer}[framework](
                loader, Model(seen), folder, stop)


main()
