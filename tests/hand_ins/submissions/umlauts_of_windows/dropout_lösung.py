# -*- coding: cp1252 -*-
# Übung 6 – Dropout
import torch

# Faktor für das, was übrig bleibt
def dropout_scale(p):
    übrig = 1 - p
    return 1 / übrig

def apply_dropout_mask(weights, keep_mask, p):
    "größer machen, was übrig ist"
    return dropout_scale(p) * weights * keep_mask

def dropout(weights, p, training):
    if training is True:
        mask = torch.empty(weights.shape).uniform_() >= p
        return apply_dropout_mask(weights, mask, p)
    else:
        return weights

print("fertig – schönen Abend!")
