# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""What reports call the parameters of a program that says nothing about its models."""

import gc

import torch

# What wraps a model adds these; nobody thinks of its layers so.
_WRAPPERS = ("_orig_mod.", "module.", "_fsdp_wrapped_module.")


def _models():
    """The modules of the program that are no part of another. Some objects lie about their class or
    do something when they are asked for it, so their type is looked at."""
    modules = [entry for entry in gc.get_objects() if issubclass(type(entry), torch.nn.Module)]
    parts = {id(child) for module in modules for child in module.children()}
    return [module for module in modules
            if id(module) not in parts and next(module.parameters(), None) is not None]


def _without_wrappers(name):
    while found := next((part for part in _WRAPPERS if name.startswith(part)), None):
        name = name[len(found):]
    return name


def name_models(session):
    """Names all parameters and buffers that there are. Takes a moment, so it is for reports only."""
    models = _models()
    for model in models:
        first = f"{type(model).__name__}." if len(models) > 1 else ""
        for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
            name = first + _without_wrappers(name)
            # What is sharded lies in a tensor of its own.
            session.name(getattr(tensor, "_local_tensor", tensor), name, name.rpartition(".")[0])
