"""GRPO of TRL on Cat in the Box: a model plays by calling tools, and each group of completions plays one deal.

pip install "trl==1.16.0"
python examples/trl_grpo.py Qwen/Qwen3-0.6B   # any model with a chat template that knows tools
python examples/trl_grpo.py                   # one step of a tiny model with random weights, nothing is downloaded
"""

from __future__ import annotations

import functools
import json
import random
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
from catbox_agents.text.hosts.trl import CatInTheBoxTools, duplicate_rows
from catbox_env import make_game
from stand_in import StandIn

GAME = make_game("cat_in_the_box_v0", num_players=3)
ARGUMENTS = {"discard": ["rank"], "bid": ["tricks"], "play": ["colour", "rank"], "paradox": []}


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
