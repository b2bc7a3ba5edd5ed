"""Features of your own: those of Cat in the Box and one more part. Run this file, or in a checkout
catbox train --players 3 --set features=examples.own_features:make_features --set total_decisions=1_000_000"""

import sys
from tempfile import mkdtemp

import catbox_agents
from catbox_agents.features import Features, features_of
from catbox_env import Game, Layout, Part
from catbox_train import load_config, train


def make_features(game: Game) -> Features:
    """The parts that the game has, and how many cards of each rank can only be declared red (three players or more)."""
    known = features_of(game)
    assert known is not None
    ranks, colors, players = game.rules.num_ranks, game.rules.num_colors, game.num_players
    seen, write_known = game.observation_layout, known.write
    hand, board, tokens = (seen[name].offset for name in ("hand", "board", "x_tokens"))
    stuck = Part("only_red", (ranks,), "cards in hand that can be declared red alone", 0, 8)

    def write(params, at, observation, mask, scratch, out, action_out):  # type: ignore[no-untyped-def]  # is compiled
        write_known(params, at, observation, mask, scratch, out, action_out)
        for rank in range(ranks):
            others = 0
            for color in range(1, colors):  # 0 is red
                taken = 0
                for owner in range(players):
                    taken += observation[board + (color * ranks + rank) * players + owner]
                others += taken == 0 and observation[tokens + color] == 1
            if others == 0:
                out[at.only_red + rank] = min(observation[hand + rank], 8)

    layout = Layout([*known.layout.values(), stuck])
    return Features(game, layout, known.action_layout, write, known.scratch)


if __name__ == "__main__":
    run, decisions = mkdtemp(), int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    options = {"num_players": 3}
    settings = {
        "features": "own_features:make_features",
        "total_decisions": decisions,
        "game_options": options,
    }
    config = load_config("quick", overrides=settings)
    train(config, run)
    # To load the policy is to run the code of its features, so its spec names the module that it trusts.
    result = catbox_agents.evaluate(config.make_game(), [f"own_features@{run}", "random"], num_deals=200)
    print(f"{result.standings[0].margin:+.2f} points a round more than random play")
