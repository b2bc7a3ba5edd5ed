"""The encoder of histories in torch, for training."""

from __future__ import annotations

import torch
from torch import nn

from catbox_agents.networks.history import HistorySizes

#: The score of rows past the end of a history: their weight is exactly 0.
_UNUSED_SCORE = -1e30


class HistoryEncoder(nn.Module):
    """Histories (n, T, 2) int8 to ``sizes.outputs`` float32 numbers; its parameters are `HistorySizes.shapes`."""

    def __init__(self, sizes: HistorySizes) -> None:
        super().__init__()
        self.sizes = sizes
        for name, shape in sizes.shapes().items():
            self.register_parameter(name, nn.Parameter(torch.empty(shape)))

    def initialise(self, generator: torch.Generator) -> HistoryEncoder:
        """Draw normal weights; the heads start out looking back over different spans. Returns self."""
        for parameter in self.parameters():
            nn.init.normal_(parameter, generator=generator)
        heads = self.sizes.heads
        slopes = torch.exp2(-8 * torch.arange(1, heads + 1) / heads)  # those of Press et al.
        with torch.no_grad():
            self.get_parameter("age_scores").copy_(-torch.arange(self.sizes.length)[:, None] * slopes)
        return self

    def forward(self, histories: torch.Tensor) -> torch.Tensor:
        """Outputs (n, D) float32 of ``histories`` (n, T, 2) int8."""
        sizes = self.sizes
        seats, actions = histories.long().unbind(2)
        used = (seats >= 0).long().cumprod(1) > 0
        tokens = torch.where(used, seats * (sizes.num_actions + 1) + actions + 1, 0)
        last = used.sum(1, keepdim=True) - 1
        ages = (last - torch.arange(tokens.shape[1], device=tokens.device)).clamp(0, sizes.length - 1)
        token_scores, age_scores, token_values, age_values = self.parameters()
        lookup = nn.functional.embedding
        scores = lookup(tokens, token_scores.flatten(0, 1)) + lookup(ages, age_scores)
        weights = scores.masked_fill(~used[:, :, None], _UNUSED_SCORE).softmax(1) * used[:, :, None]
        values = lookup(tokens, token_values.flatten(0, 1)) + lookup(ages, age_values)
        heads = values.unflatten(2, (sizes.heads, -1))
        return torch.einsum("nth,nthw->nhw", weights, heads).flatten(1)
