# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""BERT and GPT-2 of the zoo against the same put together from torch's own encoder layers."""

import unittest

import torch

from steps import difference, zoo

LAYERS, WIDTH, HEADS, CONTEXT, VOCABULARY = 2, 64, 4, 12, 50
OPTIONS = {"layers": LAYERS, "width": WIDTH, "heads": HEADS, "context": CONTEXT,
           "vocabulary": VOCABULARY}
# Relative to the largest entry; the attention of one is that of the other in another order.
TOLERANCE = 1e-5

functional = torch.nn.functional


def load(layer, state, prefix, names):
    """Gives torch's layer the weights of ours: `names` has ours by its own."""
    joined = {theirs: torch.cat([state[prefix + name] for name in ours])
              for theirs, ours in names.items()}
    layer.load_state_dict(joined)
    return layer.train()


def encoder_layer(**options):
    return torch.nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, dropout=0, batch_first=True,
                                            **options)


def with_bias(theirs, ours):
    return {f"{theirs}.{kind}": [f"{ours}.{kind}"] for kind in ("weight", "bias")}


def bert_scores(state, tokens):
    names = {f"self_attn.in_proj_{kind}": [f"{part}.{kind}" for part in ("query", "key", "value")]
             for kind in ("weight", "bias")}
    for theirs, ours in {"self_attn.out_proj": "attention_output", "norm1": "attention_norm",
                         "linear1": "intermediate", "linear2": "output",
                         "norm2": "output_norm"}.items():
        names |= with_bias(theirs, ours)

    def norm(x, prefix):
        weights = state[f"{prefix}.LayerNorm.weight"], state[f"{prefix}.LayerNorm.bias"]
        return functional.layer_norm(x, [WIDTH], *weights, 1e-12)

    words = state["embeddings.word_embeddings.weight"]
    x = norm(words[tokens] + state["embeddings.position_embeddings.weight"]
             + state["embeddings.token_type_embeddings.weight"][0], "embeddings")
    for i in range(LAYERS):
        x = load(encoder_layer(activation="gelu", layer_norm_eps=1e-12), state, f"layer.{i}.",
                 names)(x)
    x = functional.gelu(x @ state["head.dense.weight"].T + state["head.dense.bias"])
    return norm(x, "head") @ words.T + state["head.bias"]


def gpt_scores(state, tokens):
    names = {f"self_attn.in_proj_{kind}": [f"attn.c_attn.{kind}"] for kind in ("weight", "bias")}
    for theirs, ours in {"self_attn.out_proj": "attn.c_proj", "norm1": "ln_1", "norm2": "ln_2",
                         "linear1": "mlp.c_fc", "linear2": "mlp.c_proj"}.items():
        names |= with_bias(theirs, ours)
    x = state["wte.weight"][tokens] + state["wpe.weight"]
    mask = torch.nn.Transformer.generate_square_subsequent_mask(CONTEXT)
    for i in range(LAYERS):
        layer = encoder_layer(activation=lambda y: functional.gelu(y, approximate="tanh"),
                              norm_first=True)
        x = load(layer, state, f"h.{i}.", names)(x, mask, is_causal=True)
    x = functional.layer_norm(x, [WIDTH], state["ln_f.weight"], state["ln_f.bias"])
    return x @ state["wte.weight"].T


class LanguageModels(unittest.TestCase):
    def test_scores_and_losses_are_those_of_torchs_layers(self):
        for name, scores_of in (("bert_base", bert_scores), ("gpt", gpt_scores)):
            with self.subTest(name), torch.no_grad():
                torch.manual_seed(1)
                # Further apart than first values are, and norms and biases too.
                state = {key: value + 0.1 * torch.randn_like(value)
                         for key, value in zoo.first_values(name, OPTIONS).items()}
                tokens, targets = torch.randint(VOCABULARY, (2, 3, CONTEXT))
                targets[:, ::2] = -100
                theirs = scores_of(state, tokens)
                loss = functional.cross_entropy(theirs[targets >= 0], targets[targets >= 0])
                with torch.enable_grad():
                    ours = zoo.step(name, OPTIONS, state, tokens, targets)
                self.assertLessEqual(difference(ours["scores"], theirs), TOLERANCE)
                self.assertLessEqual(difference(ours["loss"], loss), TOLERANCE)


if __name__ == "__main__":
    unittest.main()
