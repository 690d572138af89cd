# SPDX-License-Identifier: MIT
"""Training, validation and test parts of a large set, assigned by the workers of Ray Data, Dask or Spark: split_engines.py ray|dask|spark.

Each task routes its items by a split of its own with the same seed and saves that; the driver merges them into one table.
Since rule "hash" decides by key, group and seed alone, the result is that of one process. Prints what it compared.
"""

import pathlib
import sys
import tempfile
import uuid

import numpy as np

import lade

COUNT, FRAMES = 200_000, 40  # items, and how many of them are of one video: its group
WEIGHTS = [8, 1, 1]


def assign(ids, folder):
    """A task: the parts of some items."""
    split = lade.Split(WEIGHTS, seed=1)
    parts = split.route_many(ids, groups=[f"video{i // FRAMES}" for i in ids])
    split.save(f"{folder}/{uuid.uuid4().hex}.split")
    return parts


def with_ray(folder):
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    data = ray.data.range(COUNT, override_num_blocks=8)
    data = data.map_batches(lambda batch: {**batch, "part": assign(batch["id"], folder)}, batch_size=None)
    return {row["id"]: row["part"] for row in data.iter_rows()}


def with_dask(folder):
    import dask

    tasks = [dask.delayed(assign)(ids, folder) for ids in np.array_split(np.arange(COUNT), 8)]
    parts = dask.compute(*tasks, scheduler="processes", num_workers=2)
    return dict(enumerate(np.concatenate(parts).tolist()))


def with_spark(folder):
    from pyspark.sql import SparkSession

    def rows(ids):
        ids = list(ids)
        return zip(ids, assign(ids, folder).tolist())

    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    parts = dict(session.sparkContext.parallelize(range(COUNT), 8).mapPartitions(rows).collect())
    session.stop()
    return parts


def main(engine):
    with tempfile.TemporaryDirectory() as folder:
        parts = {"ray": with_ray, "dask": with_dask, "spark": with_spark}[engine](folder)
        tables = sorted(pathlib.Path(folder).glob("*.split"))
        merged = lade.Split.load(tables[0])
        for table in tables[1:]:
            merged.merge(lade.Split.load(table))

    alone = lade.Split(WEIGHTS, seed=1)
    expected = alone.route_many(np.arange(COUNT), groups=[f"video{i // FRAMES}" for i in range(COUNT)])
    assert [parts[i] for i in range(COUNT)] == expected.tolist()
    assert all(merged.find(i) == expected[i] for i in range(COUNT))
    assert merged.stats()["keys"] == alone.stats()["keys"] == COUNT
    shares = " ".join(f"{100 * share:.1f} %" for share in np.bincount(expected) / COUNT)
    print(f"{engine}: {len(tables)} tables, {len(parts):,} items, {shares}: as in one process")


if __name__ == "__main__":
    main(sys.argv[1])
