import torch
from torch import nn

def head_output(queries, keys, values):
	w = torch.softmax(queries.matmul(keys.T), 1)
	return w.matmul(values)

def join_heads(head_outputs, output_weight):
	joined = head_outputs[0]
	for h in head_outputs[1:]:
		joined = torch.cat((joined, h), 1)
	return joined.matmul(output_weight)

class MultiHeadAttention(nn.Module):
	def __init__(self, embed_dim, head_dim, num_heads):
		nn.Module.__init__(self)
		self.head_dim = head_dim
		width = head_dim * num_heads
		self.q_proj = nn.Linear(embed_dim, width)
		self.k_proj = nn.Linear(embed_dim, width)
		self.v_proj = nn.Linear(embed_dim, width)
		self.out_proj = nn.Linear(width, embed_dim)

	def forward(self, x):
		parts = []
		triples = zip(*(p(x).split(self.head_dim, 1) for p in (self.q_proj, self.k_proj, self.v_proj)))
		for q, k, v in triples:
			parts.append(head_output(q / self.head_dim ** .5, k, v))
		return join_heads(parts, self.out_proj.weight.T) + self.out_proj.bias
