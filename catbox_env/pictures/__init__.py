"""Pictures of positions: a file a game, on a sheet that all of them share. `catbox_env.registry` finds them by name."""
