"""Measurements behind the numbers in the README, each with what it is compared to.

    python -m benchmarks                 every measurement, one table at the end (what `make bench` runs)
    python -m benchmarks engine aec      some of them
    python -m benchmarks engine --quick  a short run to check that the command works, not to measure speed

| name | measures |
|---|---|
| engine | random play in compiled code, OpenSpiel's hearts from Python, one thread and two |
| step | `vec.step` with NumPy actions, 4,096 games |
| features | `Features.compute`, 4,096 games |
| aec | `raw_env` and PettingZoo's connect_four through `last()` / `step()` |
| worlds | worlds sampled from one observation, and played out by the heuristic |
| arena | an arena of two agents in two processes: heuristics, random, networks |
| search | searches with the heuristic and with a network: decisions of rollouts, decisions searched |
| startup | import to first step in a fresh process, empty and warm compilation cache |
| without_numba | moves of heuristics and trained networks where nothing is compiled |
| pictures | a picture of each game as SVG and as pixels |
| web | a server of tables in the browser with 1 and 200 players: from an action to the next position |
| learner | the Gymnasium view among random and heuristic opponents, one game and 1,024 |
| sb3 | sb3-contrib's MaskablePPO on the batch and on 16 single environments |
| ppo | self-play training, with and without features, and sb3-contrib's MaskablePPO on the same game |
| workers | training in two processes, compared with one |
| level | seconds of training until the network is level with the heuristic, three and five players |
| gpu | games and training on a GPU, which it needs: only if it is named |

Each module has one function `measure(quick) -> list[Metric]` and runs in its own process.
"""

#: In the order they run: name -> BLAS and torch threads of its process.
MEASUREMENTS = {
    "engine": 1,
    "step": 1,
    "features": 1,
    "aec": 1,
    "worlds": 1,
    "arena": 1,
    "search": 1,
    "startup": 1,
    "without_numba": 1,
    "pictures": 1,
    "web": 1,
    "learner": 1,
    "sb3": 1,
    "ppo": 1,
    "workers": 1,
    "level": 1,
    "gpu": 1,
}
#: Those that are only run if they are named.
NAMED = ("gpu",)
