"""The commands of ``catbox``, one file each; ``catbox_app.cli`` puts them together."""
