"""The commands of ``catbox``, a file each; ``catbox_app.cli`` puts them together."""
