"""Training on a Ray cluster: the workers of a run in processes on its machines (needs the extra ``ray``).

    with RayWorkers(8, address="auto") as workers:
        catbox_train.train(config, "runs/eight", make_crew=workers.crew)

The run itself, with its folder, evaluations and progress, is in the process that calls this; the workers play and
learn. `crew` is what the run sees of them, `host` what runs in each of their processes, and `channel` what lies
between.
"""

from catbox_train.ray.crew import RayWorkers

__all__ = ["RayWorkers"]
