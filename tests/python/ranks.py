# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""What test_launch.py runs under torchrun: two ranks train a net by DDP or FSDP2, over gloo.

usage: ranks.py ddp|fsdp FOLDER; each rank writes its parameters and statistics there."""

import os
import pathlib
import sys

import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel


def tell(phase):
    """For who wants to know how far a rank came that was ended by a signal."""
    # In one piece: the ranks share the pipe.
    sys.stderr.write(f"rank {os.environ['RANK']} {phase}\n")
    sys.stderr.flush()


def main(kind, folder):
    dist.init_process_group("gloo")
    tell("is connected")
    torch.manual_seed(1)
    model = torch.nn.Sequential(*[layer for _ in range(6) for layer in (
        torch.nn.Linear(128, 128), torch.nn.GELU())])
    if kind == "ddp":
        model = DistributedDataParallel(model)
    else:
        for layer in model:
            fully_shard(layer)
        fully_shard(model)
    optimizer = torch.optim.AdamW(model.parameters())
    torch.manual_seed(10 + dist.get_rank())
    for _ in range(4):
        loss = model(torch.randn(2048, 128)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    result = {"loss": loss.item(), "stats": {}}
    state = model.state_dict()
    result["state"] = {key: (value.full_tensor() if hasattr(value, "full_tensor") else value)
                       .clone() for key, value in state.items()}
    if "lowtide" in sys.modules:
        result["stats"] = sys.modules["lowtide"].memory_stats()
    torch.save(result, pathlib.Path(folder) / f"{dist.get_rank()}.pt")
    tell("has written its results")
    dist.destroy_process_group()
    tell("has left the group")


main(*sys.argv[1:])
