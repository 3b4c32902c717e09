import torch

# für jede Zeile: Gewichte, die zusammen 1 ergeben – über die Spalten
def attention_weights(scores):
    return torch.softmax(scores, dim=1)
