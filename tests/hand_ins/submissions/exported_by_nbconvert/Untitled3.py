#!/usr/bin/env python
# coding: utf-8

# # Masks

# In[1]:


get_ipython().system('pip install torch')
get_ipython().run_line_magic('matplotlib', 'inline')


# In[2]:


import torch


# In[5]:


def lower_triangular_mask(context_length):
    return torch.ones(context_length, context_length).tril(diagonal=0)


# In[6]:


def mask_weights(weights, mask):
    return torch.where(mask == 1, weights, 0.0)


# In[7]:


def renormalize_rows(weights):
    return weights / weights.sum(axis=1)[:, None]


renormalize_rows(torch.rand(3, 3))


# In[11]:


def upper_triangular_mask(context_length):
    return torch.ones(context_length, context_length).triu(diagonal=1)

def mask_scores(scores, mask):
    return scores.masked_fill(mask > 0, float('-inf'))


# In[12]:


def causal_weights(scores, d_k):
    return torch.softmax(mask_scores(scores, upper_triangular_mask(scores.shape[0])), dim=-1)


# In[ ]:
