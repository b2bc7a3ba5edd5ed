"""Environments by name, in processes that have imported nothing of catbox."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pettingzoo
import pytest

from catbox_env import GAMES
from catbox_env.registration import gymnasium_id


def output(program: str) -> str:
    """What ``program`` prints in a process of its own, in which every warning is an error."""
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(program)],
        capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


def test_gymnasium_makes_every_game_by_a_name_that_begins_with_the_package() -> None:
    names = [f"catbox_env:{gymnasium_id(game_id)}" for game_id in GAMES]
    program = f"""
        import sys, gymnasium
        assert not [name for name in sys.modules if name.startswith("catbox")]
        for name in {names}:
            env = gymnasium.make(name, opponents="random")
            envs = gymnasium.make_vec(name, 2, opponents="random")
            print(env.spec.id, envs.num_envs, env.reset(seed=0)[1]["action_mask"].any())
    """
    assert output(program).splitlines() == [f"{gymnasium_id(game_id)} 2 True" for game_id in GAMES]


@pytest.mark.slow
def test_workers_that_make_environments_by_name_need_no_other_import() -> None:
    """As the worker processes of Stable-Baselines3, RLlib and others do."""
    program = """
        from functools import partial
        import gymnasium
        from gymnasium.vector import AsyncVectorEnv

        if __name__ == "__main__":
            make = partial(gymnasium.make, "catbox_env:catbox/Petrify-v0", opponents="random")
            envs = AsyncVectorEnv([make], context="spawn")
            observations, infos = envs.reset(seed=0)
            envs.step(infos["action_mask"].argmax(axis=1))
            print(observations.shape[0])
            envs.close()
    """
    assert output(program) == "1"


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(pettingzoo, "make"), reason="PettingZoo has a registry since 1.27")
def test_pettingzoo_makes_every_game_by_name_after_the_import_of_the_package_alone() -> None:
    program = f"""
        import sys, catbox_env
        print("numba" in sys.modules)
        import pettingzoo
        for game_id in {list(GAMES)}:
            env = pettingzoo.make("aec", f"catbox/{{game_id}}", num_players=2)
            env.reset(seed=0)
            print(env.metadata["name"], env.num_agents)
    """
    assert output(program).splitlines() == ["False", *(f"{game_id} 2" for game_id in GAMES)]
