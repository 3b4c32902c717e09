"""Multi-head attention twice: heads.causal is exercise 9, heads.plain exercise 10."""
