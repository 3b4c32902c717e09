import os
import time
import warnings
warnings.filterwarnings("ignore")

import torch
import torch.nn as nn
import torch.optim as optim
from torch.utils.data import DataLoader, Dataset
from torch.utils.tensorboard import SummaryWriter
from tqdm.auto import tqdm

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(1337)


class NumbersDataset(Dataset):
    def __init__(self, n, length):
        self.data = torch.randint(0, 50, (n, length + 1))

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        return self.data[i, :-1], self.data[i, 1:]


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        assert d_out % num_heads == 0
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.tril(torch.ones(1, 1, context_length, context_length)))

    def forward(self, x):
        x = x.to(self.out_proj.weight.device)
        B, T, C = x.shape
        hd = self.out_proj.in_features // self.num_heads
        q = self.W_query(x).view(B, T, self.num_heads, hd).transpose(1, 2)
        k = self.W_key(x).view(B, T, self.num_heads, hd).transpose(1, 2)
        v = self.W_value(x).view(B, T, self.num_heads, hd).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * hd ** -0.5
        att = att.masked_fill(self.mask[:, :, :T, :T] == 0, float("-inf"))
        att = self.dropout(torch.softmax(att, dim=-1))
        return self.out_proj((att @ v).transpose(1, 2).contiguous().view(B, T, -1))


class TinyModel(nn.Module):
    def __init__(self, vocab=50, dim=16, length=12):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)
        self.att = MultiHeadAttention(dim, dim, length, 0.1, 4)
        self.head = nn.Linear(dim, vocab)

    def forward(self, idx):
        return self.head(self.att(self.tok(idx)))


def train(epochs=3):
    writer = SummaryWriter()
    model = TinyModel().to(device)
    opt = optim.Adam(model.parameters(), lr=1e-3)
    loader = DataLoader(NumbersDataset(256, 12), batch_size=32, shuffle=True)
    for epoch in range(epochs):
        start = time.time()
        for xb, yb in tqdm(loader):
            loss = nn.functional.cross_entropy(model(xb.to(device)).flatten(0, 1), yb.to(device).flatten())
            opt.zero_grad()
            loss.backward()
            opt.step()
        writer.add_scalar("loss", loss.item(), epoch)
        print(f"{epoch=} {loss.item():.3f} {time.time() - start:.1f}s")
    torch.save(model.state_dict(), os.path.join("runs", "model.pt"))


if __name__ == "__main__":
    train()
