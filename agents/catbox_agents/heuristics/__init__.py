"""The hand-written players, one for each game. In this package, only this folder knows single games."""

#: The hand-written player of each game: game id -> "module:Class".
HEURISTICS = {
    "cat_in_the_box_v0": "catbox_agents.heuristics.cat_in_the_box:CatInTheBoxHeuristic",
    "cat_te_v0": "catbox_agents.heuristics.cat_te:CatTeHeuristic",
    "petrify_v0": "catbox_agents.heuristics.petrify:PetrifyHeuristic",
}
