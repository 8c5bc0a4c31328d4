"""Statistics added up while the model runs equal those of everything kept in memory."""

import numpy as np
import pytest
import torch
from scipy.stats import skew

from clusterlens.metrics import similarity
from clusterlens.metrics.correlation import HeadCorrelation, correlations
from clusterlens.metrics.head_clusters import head_clusters, stability
from clusterlens.metrics.spectrum import covariance_spectrum, effective_rank
from clusterlens.probing.capture import Layer, capture
from clusterlens.probing.statistics import (
    AttentionByKey,
    AttentionToFirst,
    HeadCorrelations,
    HiddenStates,
    Spectrum,
    TokenSimilarity,
)
from reference import probing, tiny

pytestmark = pytest.mark.usefixtures("one_thread")
LENGTHS = [13, 5, 9]


@pytest.fixture(scope="module")
def probed():
    """A model, its texts, all that it records, and the streamed statistics."""
    model, texts = tiny.model_of("roberta"), tiny.texts_of(LENGTHS)
    statistics = {
        "similarity": TokenSimilarity(),
        "whole": TokenSimilarity(diagonal=True),
        "spectrum": Spectrum(),
        "correlations": HeadCorrelations(),
        "literal": HeadCorrelations(padding=True),
        "first": AttentionToFirst(),
        "key": AttentionByKey(1),
        "states": HiddenStates(2),
    }
    capture(model, texts, [one.add for one in statistics.values()], batch_size=2)
    return statistics, [probing.everything(model, ids) for ids in texts]


def test_token_similarity(probed):
    statistics, kept = probed
    found = statistics["similarity"]
    table = found.table().set_index(["layer", "text"])
    for layer in range(4):
        values = [probing.cosines_of_pairs(hidden[layer].astype(float)) for hidden, _ in kept]
        for text, cosines in enumerate(values):
            row = table.loc[layer, text]
            assert row["tokens"] == LENGTHS[text]
            assert row["mean_cosine"] == pytest.approx(cosines.mean(), abs=1e-6)
            assert row["skewness"] == pytest.approx(skew(cosines), abs=1e-4)
            assert row["share_alike"] == pytest.approx((cosines > 0.9).mean())
        pooled = np.concatenate(values)
        expected, _ = np.histogram(pooled, similarity.EDGES, density=True)
        np.testing.assert_allclose(found.histogram(layer), expected, atol=3)  # a value may fall beside an edge
        assert abs(found.histogram(layer) - expected).sum() < 0.02 * expected.sum()


def test_the_literal_histogram_has_every_pair_twice_and_the_diagonal(probed):
    statistics, kept = probed
    matrices = []
    for hidden, _ in kept:
        unit = hidden[2] / np.linalg.norm(hidden[2], axis=1, keepdims=True)
        matrices.append((unit @ unit.T).clip(-1, 1))
        np.fill_diagonal(matrices[-1], 1)
    whole = np.concatenate([matrix.ravel() for matrix in matrices])
    literal = statistics["whole"]
    found = literal.histogram(2)
    expected, _ = np.histogram(whole, similarity.EDGES, density=True)
    assert abs(found - expected).sum() < 0.02 * expected.sum()
    assert found[-1] == pytest.approx(expected[-1], rel=1e-6)
    assert found @ np.diff(similarity.EDGES) == pytest.approx(1)
    rows = literal.table().query("layer == 2").to_dict("records")
    for row, matrix in zip(rows, matrices, strict=True):
        assert row["mean_cosine"] == pytest.approx(matrix.mean(), abs=1e-6)
        assert row["skewness"] == pytest.approx(skew(matrix.ravel()), rel=1e-4)


def test_clusters_are_counted_by_direction():
    x = torch.tensor([[1.0, 0], [2, 0.01], [0, 1], [-1, 0], [-3, 0]])
    found = TokenSimilarity()
    found.add(Layer(0, 0, (5,), x[None], None))
    assert found.table()["clusters"].item() == 3


def test_spectrum(probed):
    statistics, kept = probed
    found = statistics["spectrum"]
    table = found.table().set_index(["layer", "text"])
    eigenvalues = found.eigenvalue_table().set_index(["layer", "text", "covariance", "rank"])["eigenvalue"].sort_index()
    for text, (hidden, _) in enumerate(kept):
        for layer, x in enumerate(hidden):
            x = x.astype(float)
            for name, matrix in (("centred", np.cov(x.T)), ("uncentred", x.T @ x / len(x))):
                expected = np.sort(np.linalg.eigvalsh(matrix))[::-1][: min(x.shape)]
                mine = eigenvalues.loc[layer, text, name].sort_index().to_numpy()
                np.testing.assert_allclose(mine, expected, atol=1e-6 * expected[0])
                share = expected.clip(1e-30) / expected.sum()
                entropy = -(share * np.log(share)).sum()
                assert table.loc[layer, text][f"effective_rank_{name}"] == pytest.approx(np.exp(entropy), rel=1e-4)


@pytest.mark.parametrize("shape", ((100, 30), (30, 100), (90, 120), (120, 90)))
@pytest.mark.parametrize("centred", (True, False))
def test_wide_spectra_equal_those_of_the_covariance(shape, centred):
    x = np.random.default_rng(1).standard_normal((2, *shape)) + 0.5
    for one, found in zip(x, covariance_spectrum(x, centred=centred), strict=True):
        matrix = np.cov(one.T) if centred else one.T @ one / len(one)
        expected = np.sort(np.linalg.eigvalsh(matrix))[::-1][: min(shape)]
        np.testing.assert_allclose(found, expected, atol=1e-12 * expected[0])
        assert (found >= 0).all() and (np.diff(found) <= 0).all()
    assert effective_rank(covariance_spectrum(np.outer(np.arange(80.0), np.ones(70)))) == pytest.approx(1, abs=1e-6)


def test_head_correlations(probed):
    statistics, kept = probed
    for layer in range(1, 4):
        per_text = np.stack([probing.correlation_of_pairs(maps[layer - 1].astype(float)) for _, maps in kept])
        np.testing.assert_allclose(statistics["correlations"].per_text(layer), per_text, atol=1e-6)
        np.testing.assert_allclose(statistics["correlations"].mean(layer), per_text.mean(0), atol=1e-6)
    table = statistics["correlations"].off_diagonal().set_index(["layer", "text"])["correlation"]
    apart = ~np.eye(3, dtype=bool)
    assert table[3, 1] == pytest.approx(
        probing.correlation_of_pairs(kept[1][1][2].astype(float))[apart].mean(), abs=1e-6
    )


def test_padding_raises_the_literal_correlation(probed):
    """The second text has 5 tokens in a batch of 13: its padded rows and columns are alike in all heads."""
    statistics, _ = probed
    masked, literal = (statistics[name].per_text(1)[1] for name in ("correlations", "literal"))
    apart = ~np.eye(3, dtype=bool)
    assert literal[apart].mean() > masked[apart].mean() + 0.1
    longest = [statistics[name].per_text(1)[0] for name in ("correlations", "literal")]
    np.testing.assert_allclose(*longest, atol=1e-6)


@pytest.mark.parametrize("size", (4, 64, 71, 130))
def test_correlations_of_all_pairs_by_one_product(size):
    maps = (3 * torch.randn(2, 5, size, size, generator=torch.Generator().manual_seed(0))).softmax(-1)
    found = correlations(maps).numpy()
    for one, r in zip(maps.double().numpy(), found, strict=True):
        np.testing.assert_allclose(r, probing.correlation_of_pairs(one), atol=1e-6)
    np.testing.assert_allclose(correlations(maps.double()).numpy(), found, atol=1e-6)


@pytest.mark.parametrize("dtype", (torch.float32, torch.float64))
def test_nearly_uniform_maps_still_correlate_and_constant_ones_do_not(dtype):
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn(1, 4, 50, 50, generator=generator, dtype=torch.float64)
    maps = ((1 + 1e-3 * noise) / 50).to(dtype)
    maps[:, 2] = 1 / 50
    found = correlations(maps)[0].numpy()
    assert np.isnan(found[2]).all() and np.isnan(found[:, 2]).all()
    rest = [0, 1, 3]
    expected = probing.correlation_of_pairs(maps[0, rest].double().numpy())
    np.testing.assert_allclose(found[np.ix_(rest, rest)], expected, atol=1e-4)


def test_the_streamed_mean_leaves_constant_maps_out():
    maps = torch.rand(3, 2, 6, 6)
    maps[1, 0] = 0.25
    streamed = HeadCorrelation(2)
    for one in maps:
        streamed.add(one[None])
    expected = np.mean([probing.correlation_of_pairs(maps[n].double().numpy())[0, 1] for n in (0, 2)])
    assert float(streamed.mean()[0, 1]) == pytest.approx(expected, abs=1e-12)
    assert streamed.silent.tolist() == [1, 0] and streamed.images == 3


def test_attention_to_the_first_token(probed):
    statistics, kept = probed
    table = statistics["first"].table().set_index(["layer", "text", "head"])
    for text, (_, maps) in enumerate(kept):
        for layer, heads in enumerate(maps, 1):
            for head, p in enumerate(heads):
                row = table.loc[layer, text, head]
                assert row["attention"] == pytest.approx(p[1:, 0].mean(), abs=1e-6)
                assert row["uniform"] == pytest.approx(1 / LENGTHS[text])


def test_uniform_attention_within_windows():
    """Tokens further than half a window from the first do not see it, unless it is global."""
    n, half = 9, 2
    maps = torch.zeros(1, 1, n, n)
    for tokens, see_first in (((), range(1, 3)), ((0,), range(1, n))):
        rows = []
        for i in range(1, n):
            keys = {j for j in range(n) if abs(i - j) <= half} | set(tokens)
            rows.append(1 / len(keys) if i in see_first else 0)
        found = AttentionToFirst()
        found.add(Layer(1, 0, (n,), torch.zeros(1, n, 2), maps, half, tokens))
        assert found.table()["uniform"].item() == pytest.approx(np.mean(rows))


def test_a_single_token_has_no_pairs():
    layer = Layer(1, 0, (1,), torch.ones(1, 1, 3), torch.ones(1, 2, 1, 1))
    first, similar = AttentionToFirst(), TokenSimilarity()
    first.add(layer)
    similar.add(layer)
    assert first.table()["attention"].isna().all()
    assert similar.table()["mean_cosine"].isna().all()


def test_attention_by_key_and_hidden_states(probed):
    statistics, kept = probed
    np.testing.assert_allclose(statistics["key"].received[2], kept[1][1][1].mean(1), atol=1e-6)
    np.testing.assert_allclose(statistics["states"].of(2), kept[2][0][2], atol=2e-5)


def test_head_clusters_and_their_stability():
    rng = np.random.default_rng(0)
    groups = np.array([0, 0, 1, 0, 1, 0])
    clear = np.where(groups[:, None] == groups, 0.9, 0.1) + 0.02 * rng.standard_normal((30, 6, 6))
    assert (head_clusters(clear.mean(0), 2) == groups).all()
    assert stability(clear, 2, resamples=50).mean() == 1
    noise = 0.5 * rng.standard_normal((30, 6, 6))
    assert stability((noise + noise.swapaxes(1, 2)) / 2, 2, resamples=50).mean() < 0.8
