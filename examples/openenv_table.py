"""A server of OpenEnv with one seat at a table of three, and a client that plays a game there.

pip install "openenv==0.10.0"
catbox compile
python examples/openenv_table.py              # server and client, with random legal answers
python examples/openenv_table.py serve 8000   # the server alone
"""

from __future__ import annotations

import sys
import threading
import time

import uvicorn

from catbox_agents.text.hosts.openenv import CatboxClient, TextAction, openenv_app
from catbox_env import make_game
from stand_in import StandIn


def server(port: int, list_actions: bool = False) -> uvicorn.Server:
    game = make_game("cat_in_the_box_v0", num_players=3)
    app = openenv_app(game, opponents="heuristic", list_actions=list_actions)
    return uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning"))


def main() -> None:
    serving = server(0, list_actions=True)  # at a free port
    thread = threading.Thread(target=serving.run)
    thread.start()
    while not serving.started:
        time.sleep(0.01)
    port = serving.servers[0].sockets[0].getsockname()[1]
    model = StandIn()
    with CatboxClient(f"http://127.0.0.1:{port}").sync() as client:
        result = client.reset(seed=1, seat=0)
        while not result.done:
            result = client.step(TextAction(action=model(result.observation.text)))
        print(result.observation.text)
        print(f"reward {result.reward:.2f}, {client.state().step_count} answers")
    serving.should_exit = True
    thread.join()


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        server(int(sys.argv[2])).run()
    else:
        main()
