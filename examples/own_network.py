"""A network of your own: a small transformer over the ranks of Cat in the Box. Run this file, or in a checkout
catbox train --players 3 --set network=examples.own_network:RankTransformer --set total_decisions=1_000_000"""

import sys
from tempfile import mkdtemp

import torch
from torch import Tensor, nn

import catbox_agents
from catbox_agents.networks.inputs import NetworkInputs
from catbox_train import ILLEGAL, Network, load_config, train


class RankTransformer(Network):
    """A token for each rank, of the cards in hand and the cells on the board, and one for the whole position; attention
    between them. An action of a rank is scored by the token of that rank, any other by the token of the position.

    Options: the ``width`` of a token, and how many ``layers`` and ``heads`` there are.
    """

    def __init__(
        self, inputs: NetworkInputs, num_values: int = 0, width: int = 32, layers: int = 2, heads: int = 4
    ) -> None:
        super().__init__(inputs, num_values, width=width, layers=layers, heads=heads)
        game, parts = inputs.game, inputs.parts()
        self.hand, (self.board, board) = parts["hand"][0], parts["board"]
        self.shape = colors, ranks, owners = board.shape
        self.scale: Tensor
        self.register_buffer("scale", torch.as_tensor(inputs.scale()))
        words = [game.action_to_string(action).split() for action in range(game.num_actions)]
        token_of = [int(word[-1]) - 1 if word[0] in ("discard", "play") else ranks for word in words]
        self.register_buffer("token_of", torch.tensor(token_of), persistent=False)
        self.read_rank = nn.Linear(1 + colors * owners, width)
        self.read_position = nn.Linear(inputs.size, width)
        layer = nn.TransformerEncoderLayer(width, heads, 2 * width, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.score = nn.Parameter(0.01 * torch.randn(game.num_actions, width))
        self.sizes = [inputs.action_size, num_values]
        self.read_out = nn.Linear(
            width, sum(self.sizes)
        )  # weights of the features of actions, and the values

    def forward(self, vectors: Tensor, action_features: Tensor, masks: Tensor) -> tuple[Tensor, Tensor]:
        numbers = vectors.float() * self.scale
        board = numbers[:, self.board].unflatten(1, self.shape).transpose(1, 2).flatten(2)
        ranks = self.read_rank(torch.cat([numbers[:, self.hand, None], board], 2))
        tokens = self.encoder(torch.cat([ranks, self.read_position(numbers)[:, None]], 1))
        weights, values = self.read_out(tokens[:, -1]).split(self.sizes, 1)
        logits = (tokens[:, self.token_of] * self.score).sum(2)
        logits = logits + torch.einsum("nak,nk->na", action_features.float(), weights)
        return logits.masked_fill(~masks, float(ILLEGAL)), values


if __name__ == "__main__":
    run, decisions = mkdtemp(), int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    config = load_config(
        "quick",
        overrides={
            "network": "own_network:RankTransformer",
            "network_options": {"layers": 1},
            "total_decisions": decisions,
            "game_options": {"num_players": 3},
        },
    )
    train(config, run)
    # To load the policy is to run the code of its network, so its spec names the module that it trusts.
    agents = [f"own_network@{run}", "heuristic", "random"]
    arena = catbox_agents.run_arena(config.make_game(), agents, num_deals=200)
    print(f"{arena.margins[0, 2].mean():+.2f} points a round more than random play")
