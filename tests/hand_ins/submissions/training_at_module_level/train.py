import torch
import torch.nn as nn
from tqdm import trange

torch.manual_seed(42)
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")

class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1).to(device))

    def forward(self, x):
        n = x.shape[1]
        w = self.W_query(x) @ self.W_key(x).permute(0, 2, 1)
        w = w.masked_fill(self.mask[:n, :n].bool().to(x.device), -torch.inf)
        w = nn.Softmax(dim=-1)(w / (self.W_key.out_features ** .5))
        return self.dropout(w) @ self.W_value(x)

net = CausalAttention(4, 4, 8, 0.1).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
losses = []
for step in trange(5):
    x = torch.randn(2, 8, 4, device=device)
    loss = ((net(x) - x) ** 2).mean()
    optimizer.zero_grad(); loss.backward(); optimizer.step()
    losses.append(loss.item())
print(losses)

def count_parameters(module):
    return sum(p.nelement() for p in module.parameters())

print("parameters:", count_parameters(net))
