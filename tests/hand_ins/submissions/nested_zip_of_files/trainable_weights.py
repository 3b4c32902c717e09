# Aufgabe 3 – gewichtete Werte (größtenteils fertig)
from lineare_algebra import produkt, wurzel
from simple_attention import softmax_stable
import torch


def scaled_weights(scores, d_k):
    scores = scores / wurzel(d_k)
    if scores.dim() == 1:
        return softmax_stable(scores)
    return torch.stack([softmax_stable(zeile) for zeile in scores])


def weighted_values(weights, values):
    return produkt(weights, values)
