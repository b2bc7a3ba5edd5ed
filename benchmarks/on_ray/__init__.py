"""Training on Ray, measured: in the environment of `make test-ray`,

    .venv-ray/bin/python -m benchmarks.on_ray speed     writes benchmarks/on_ray/measured.json (about 8 minutes)
    .venv-ray/bin/python -m benchmarks.on_ray curves    writes docs/pictures/on-ray.svg (about 5 minutes)

docs/scaling.md shows what the first one finds and what `model` makes of it; docs/generate.py rewrites that.
"""
