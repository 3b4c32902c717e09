def dot_product(a, b):
    return (a * b).sum()
