# Unusual but legal formatting: tabs, semicolons, backslashes, a form feed, Windows line ends.
import torch; from torch import *

def dot_product(a, b): return torch.sum( a\
    *b )
def attention_scores(query,inputs):
	return (
			inputs  *  query[ None , : ]
	) . sum ( -1 ,
	)
def normalize_scores(scores) :
  s=scores.sum();return scores/s
def softmax_naive(x):
        if  True :
         e=exp(x);
         return e/e.sum()
class _:
 def __call__(self, x): m=x.max();e=(x-m).exp();return e/e.sum()
softmax_stable=_()
def context_vector(weights,inputs)->"a vector": return weights[:,None].mul(inputs).sum(0)