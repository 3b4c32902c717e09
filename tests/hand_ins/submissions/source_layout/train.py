import sys
sys.path.insert(0, "src")

import torch
from tqdm import tqdm
from model.attention import CausalAttention, count_parameters

if __name__ == "__main__":
    net = CausalAttention(3, 3, 8, 0.1)
    print(count_parameters(net), "parameters")
    opt = torch.optim.AdamW(net.parameters())
    for step in tqdm(range(100)):
        x = torch.randn(4, 8, 3)
        loss = (net(x) - x.roll(-1, dims=1)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
