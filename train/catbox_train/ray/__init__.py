"""Training on a Ray cluster: the workers of a run in processes on its machines (needs the extra ``ray``).

    with RayWorkers(8, address="auto") as workers:
        catbox_train.train(config, "runs/eight", make_algorithm=workers.algorithm)

The run itself, with its folder, evaluations and progress, is in the calling process; the workers play and learn.
`workers` is what the run sees of them, `ranks` what runs in each of their processes, and `channel` connects the two.
"""

from catbox_train.ray.workers import RayWorkers

__all__ = ["RayWorkers"]
