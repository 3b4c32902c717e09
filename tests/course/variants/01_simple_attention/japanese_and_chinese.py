# Identifiers and comments in Japanese and Chinese.
import torch

入力 = torch.tensor([[0.43, 0.15, 0.89], [0.55, 0.87, 0.66]])  # あなたの旅


def _合計(値):
    """値をすべて足し合わせる。"""
    return 値.sum()


def dot_product(a, b):
    """内積を計算する（要素ごとの積の和）。"""
    積 = a * b
    return _合計(積)


def attention_scores(query, inputs):
    # 每个词元与查询的点积
    得分 = [dot_product(query, 词元) for 词元 in inputs]
    return torch.stack(得分)


def normalize_scores(scores):
    総和 = _合計(scores)
    return scores / 総和


def softmax_naive(x):
    指数 = torch.exp(x)
    return 指数 / _合計(指数)


def softmax_stable(x):
    最大値 = x.max()  # オーバーフローを防ぐ
    return softmax_naive(x - 最大値)


def context_vector(weights, inputs):
    文脈 = sum(重み * 词元 for 重み, 词元 in zip(weights, inputs))
    print("文脈ベクトル：", 文脈)
    return 文脈


if __name__ == "__main__":
    print("得分：", attention_scores(入力[1], 入力))
