# ruff: noqa
# %%
from torch import nn

# only the solution says so, 31fa


# %% exercise="double"
def double(x):
    # TODO: twice the argument.
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION


# %% exercise="total"
def total(x):
    # TODO: the sum of all values.
    ### BEGIN SOLUTION
    return float(x.sum())
    ### END SOLUTION


# %% exercise="Layer"
class Layer(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        # TODO: a linear layer W.
        ### BEGIN SOLUTION
        self.W = nn.Linear(d_in, d_out, bias=False)
        ### END SOLUTION

    def forward(self, x):
        # TODO: apply it.
        ### BEGIN SOLUTION
        return self.W(x)
        ### END SOLUTION
