from .heads import CausalAttention, MultiHeadAttentionWrapper
from .multi import MultiHeadAttention, merge_heads, split_heads

__all__ = ["CausalAttention", "MultiHeadAttention", "MultiHeadAttentionWrapper"]
