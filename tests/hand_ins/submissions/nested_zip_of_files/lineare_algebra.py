def wurzel(x):
    return x ** 0.5


def produkt(a, b):
    return a @ b
