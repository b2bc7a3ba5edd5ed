"""GRPO of TRL on Cat in the Box: a model plays a seat by calling tools, and is paid at the end of the game.

All completions of a group play the same deal in the same seat, so GRPO compares them on a duplicate.

pip install "trl==1.16.0"
python examples/trl_grpo.py Qwen/Qwen3-0.6B   # any model with a chat template that knows tools
python examples/trl_grpo.py                   # one step of a tiny model with random weights, nothing is downloaded
"""

from __future__ import annotations

import functools
import json
import random
import re
import sys
import tempfile
from typing import Any

import torch
from datasets import Dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM
from trl import GRPOConfig, GRPOTrainer
from trl.chat_template_utils import qwen2_5_chat_template

from catbox_agents.text import TextGame
from catbox_env import Game, make_game
from stand_in import StandIn

GAME = make_game("cat_in_the_box_v0", num_players=3)
ARGUMENTS = {"discard": ["rank"], "bid": ["tricks"], "play": ["colour", "rank"], "paradox": []}


class GameTools:
    """One game for one rollout; its subclasses give it tools, which are their public methods.

    ``table``: the settings of `TextGame`.
    """

    def __init__(self, game: Game, **table: Any) -> None:
        self._table = TextGame(game, **table)
        self._reward = 0.0

    def reset(self, seed: int, seat: int | None = None, **_: Any) -> str:
        """Begin the game of a row of the data set; returns what follows its prompt."""
        self._reward = 0.0
        return self._told(self._table.reset(seed, seat))

    def get_reward(self) -> float:
        """The reward of the game (`TextGame.step`); 0, the lowest, if the rollout ended before it."""
        return self._reward

    def _act(self, action: str) -> str:
        """Play the action with this name; returns what the model is told. A finished game raises ``ValueError``."""
        text, self._reward, _ = self._table.step(json.dumps({"action": action}))
        return self._told(text)

    def _told(self, text: str) -> str:
        return re.sub(r"End your answer with .*", "Choose an action by calling a tool.", text)


class CatInTheBoxTools(GameTools):
    """The actions of Cat in the Box."""

    def discard(self, rank: int) -> str:
        """Put a card of your hand aside.

        Args:
            rank: The rank of the card.

        Returns:
            What has happened since then, and whether it is your turn.
        """
        return self._act(f"discard {rank}")

    def bid(self, tricks: int) -> str:
        """Say how many tricks you are going to win.

        Args:
            tricks: The number of tricks.

        Returns:
            What has happened since then, and whether it is your turn.
        """
        return self._act(f"bid {tricks}")

    def play(self, colour: str, rank: int) -> str:
        """Play a card of your hand to the trick.

        Args:
            colour: The colour that you declare for it: red, blue, yellow or green.
            rank: The rank of the card.

        Returns:
            What has happened since then, and whether it is your turn.
        """
        return self._act(f"play {colour} {rank}")

    def paradox(self) -> str:
        """Cause a paradox, when you cannot play any card.

        Returns:
            The result of the round.
        """
        return self._act("paradox")


def duplicate_rows(game: Game, deals: int, *, seed: int = 0, prompt: str = "") -> list[dict[str, Any]]:
    """Rows of a data set: ``deals`` deals, of the seeds from ``seed`` on, each from every seat.

    Dicts with ``prompt`` (a message of the user with this text, to which a game adds its own), ``seed`` and ``seat``.
    """
    return [
        {"prompt": [{"role": "user", "content": prompt}], "seed": deal, "seat": seat}
        for deal in range(seed, seed + deals)
        for seat in range(game.num_players)
    ]


def tiny_tokenizer() -> PreTrainedTokenizerFast:
    """A tokenizer that is trained on the prompts of a few games, with the chat template of Qwen2.5."""
    texts = [TextGame(GAME, list_actions=True).reset(seed) for seed in range(20)]
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>"]
    own = Tokenizer(models.BPE())
    own.pre_tokenizer, own.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=1000, special_tokens=special[:3], initial_alphabet=alphabet)
    own.train_from_iterator(texts, trainer)
    own.add_tokens(special[3:])
    wrapped = PreTrainedTokenizerFast(tokenizer_object=own, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    wrapped.chat_template = qwen2_5_chat_template
    return wrapped


class TinyModel(Qwen2ForCausalLM):
    """A network with random weights, whose completions are random legal tool calls: its own would be none."""

    tokenizer: Any = None
    choose = StandIn()

    def generate(self, input_ids: torch.Tensor, **_: Any) -> torch.Tensor:
        """(N, T) token ids -> (N, T + longest completion)."""
        rows = []
        for row in input_ids:
            text = self.tokenizer.decode(row)
            last = text.rpartition("<|im_start|>user")[2].partition("<|im_end|>")[0]
            call = "The game is over."
            if "It is your turn" in last:
                name, *values = json.loads(self.choose(last))["action"].split()
                given = {
                    key: int(v) if v.isdigit() else v for key, v in zip(ARGUMENTS[name], values, strict=True)
                }
                written = json.dumps({"name": name, "arguments": given})
                call = f"<tool_call>\n{written}\n</tool_call>"
            rows.append(torch.tensor(self.tokenizer(call + "<|im_end|>")["input_ids"]))
        pad = self.tokenizer.pad_token_id
        added = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad)
        return torch.cat([input_ids, added], 1)


def tiny_model() -> tuple[TinyModel, PreTrainedTokenizerFast]:
    tokenizer = tiny_tokenizer()
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = Qwen2Config(
        vocab_size=len(tokenizer), num_key_value_heads=2, max_position_embeddings=8192, **sizes
    )
    model = TinyModel(config)
    model.tokenizer = tokenizer
    return model, tokenizer


def make_trainer(model: Any, tokenizer: Any = None, output: str = "trl_grpo", **table: Any) -> GRPOTrainer:
    """Four completions of each deal and seat; ``table``: settings of `TextGame`."""
    args = GRPOConfig(
        output_dir=output,
        per_device_train_batch_size=4,
        num_generations=4,
        max_completion_length=6000,
        max_tool_calling_iterations=30,
        learning_rate=1e-3 if tokenizer else 1e-6,
        max_steps=1 if tokenizer else 200,
        logging_steps=1,
        report_to="none",
        use_cpu=tokenizer is not None,
        bf16=tokenizer is None,
        seed=0,
    )
    rows = duplicate_rows(GAME, deals=1000, prompt="Win as many points as you can.\n\n")
    return GRPOTrainer(
        model,
        args=args,
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
        environment_factory=functools.partial(CatInTheBoxTools, GAME, **table),
    )


if __name__ == "__main__":
    random.seed(0)
    if sys.argv[1:]:
        make_trainer(sys.argv[1]).train()
    else:
        torch.manual_seed(0)
        with tempfile.TemporaryDirectory() as folder:
            trainer = make_trainer(*tiny_model(), folder, list_actions=True)
            trainer.train()
        log = trainer.state.log_history[0]
        print(
            {
                name: log[name]
                for name in ("reward", "reward_std", "loss", "grad_norm", "tools/call_frequency")
            }
        )
