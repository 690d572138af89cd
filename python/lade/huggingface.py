# SPDX-License-Identifier: MIT
"""lade for the Hugging Face Trainer."""

import json
import os

import transformers
from transformers.trainer_utils import get_last_checkpoint

_FILE = "lade.json"


class Trainer(transformers.Trainer):
    """A Trainer that reads a lade.torch.Loader, and keeps its state in the checkpoints.

        loader = lade.torch.Loader({"input_ids": tokens, "labels": labels}, batch=8, seed=1, device=args.device)
        trainer = lade.huggingface.Trainer(model=model, args=args, train_loader=loader)
        trainer.train(resume_from_checkpoint=True)

    train() continues with the batch after the checkpoint, with any number of processes; nothing is read to be skipped.
    """

    def __init__(self, *args, train_loader, **options):
        super().__init__(*args, **options)
        self.train_loader = train_loader
        self.args.ignore_data_skip = True  # the loader continues where its state is
        self.add_callback(_Save(train_loader))

    def get_train_dataloader(self):
        return self.train_loader

    def train(self, resume_from_checkpoint=None, **options):
        path = resume_from_checkpoint
        if path is True:
            path = get_last_checkpoint(self.args.output_dir)
            if path is None:
                raise ValueError(f"there is no checkpoint in {self.args.output_dir}")
        if path:
            with open(os.path.join(path, _FILE), encoding="utf-8") as file:
                self.train_loader.load_state_dict(json.load(file))
        return super().train(resume_from_checkpoint=path, **options)


class _Save(transformers.TrainerCallback):
    def __init__(self, loader):
        self.loader = loader

    def on_save(self, args, state, control, **_):
        if state.is_world_process_zero:
            folder = os.path.join(args.output_dir, f"checkpoint-{state.global_step}")
            with open(os.path.join(folder, _FILE), "w", encoding="utf-8") as file:
                json.dump(self.loader.state_dict(), file)
