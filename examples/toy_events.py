"""Toy events with the columns of NanoAOD.

A coarse detector loses, smears and mislabels the particles of `toy_physics` and fills the
columns that an analysis expects to find, with several times as many that it will not read.
Isolation, impact parameters and tags know where a particle came from; the rest is noise of
the right shape. The same seed gives the same events.
"""

from __future__ import annotations

from typing import Any

import awkward as ak
import numpy as np
from numpy.typing import NDArray

from toy_physics import (
    BOTTOM,
    ELECTRON,
    GLUON,
    LEPTON_MASS,
    LIGHT,
    MUON,
    NEUTRINO,
    PILEUP,
    TAU,
    Bools,
    Floats,
    Ints,
    Particles,
    collide,
    eta_of,
    phi_of,
    pt_of,
)

Columns = dict[str, Any]

NEGATIVE_WEIGHTS = {"DYJets": 0.16, "TTbar": 0.004}  # share of events, as the generators have it
JET_LIKE = (LIGHT, BOTTOM, GLUON, PILEUP, TAU, ELECTRON, MUON)
NOISE_FILTERS = (
    "goodVertices",
    "globalSuperTightHalo2016Filter",
    "HBHENoiseFilter",
    "EcalDeadCellTriggerPrimitiveFilter",
    "BadPFMuonFilter",
    "eeBadScFilter",
)


def generate(process: str, n: int, rng: np.random.Generator) -> Columns:
    """Generate n events of a process ("DYJets" or "TTbar") as a dict of columns.

    Flat columns are numpy arrays; a collection is one jagged awkward array of records.

    >>> events = generate("DYJets", 100, np.random.default_rng(1))
    >>> len(events["MET_pt"]), events["Muon"].fields[:5]
    (100, ['pt', 'eta', 'phi', 'mass', 'charge'])
    """
    truth = collide(process, n, rng)
    muons = detect_muons(truth, n, rng)
    electrons = detect_electrons(truth, n, rng)
    jets = detect_jets(truth, n, rng)
    return {
        **event_columns(n, NEGATIVE_WEIGHTS[process], rng),
        **missing_energy(truth, n, rng),
        **triggers(muons, electrons, jets, rng),
        "Muon": muons,
        "Electron": electrons,
        "Jet": jets,
    }


def select(
    truth: Particles,
    species: tuple[int, ...],
    pt_min: float,
    eta_max: float,
    efficiency: float,
    rng: np.random.Generator,
) -> Particles:
    kept = np.isin(np.abs(truth.pdg), species) & (pt_of(truth.p4) > pt_min)
    kept &= np.abs(eta_of(truth.p4)) < eta_max
    return truth[kept & (rng.random(len(kept)) < efficiency)]


def kinematics(
    found: Particles, resolution: float, mass: Floats | float, rng: np.random.Generator
) -> Columns:
    n = len(found)
    return {
        "pt": pt_of(found.p4) * np.exp(rng.normal(0, resolution, n)),
        "eta": eta_of(found.p4),
        "phi": phi_of(found.p4),
        "mass": np.broadcast_to(mass, n),
    }


def impact(prompt: Bools, rng: np.random.Generator) -> Columns:
    """Impact parameters in cm, and isolation: wide for what comes from heavy flavour."""
    n = len(prompt)
    width = np.where(prompt, 1.0, 8.0)
    dxy, dz = rng.normal(0, 0.003, n) * width, rng.normal(0, 0.006, n) * width
    dxy_error, dz_error = rng.gamma(9, 0.00035, n), rng.gamma(9, 0.0007, n)
    isolation = rng.exponential(np.where(prompt, 0.03, 0.9))
    return {
        "dxy": dxy,
        "dxyErr": dxy_error,
        "dz": dz,
        "dzErr": dz_error,
        "ip3d": np.hypot(dxy, dz),
        "sip3d": np.hypot(dxy / dxy_error, dz / dz_error),
        "pfRelIso03_all": isolation,
        "pfRelIso03_chg": isolation * rng.random(n),
        "miniPFRelIso_all": isolation * rng.uniform(0.3, 0.9, n),
    }


def detect_muons(truth: Particles, n: int, rng: np.random.Generator) -> ak.Array:
    found = select(truth, (MUON,), 3.0, 2.4, 0.96, rng)
    size = len(found)
    columns = {
        **kinematics(found, 0.013, LEPTON_MASS[MUON], rng),
        "charge": -np.sign(found.pdg),
        **impact(found.prompt, rng),
        "ptErr": pt_of(found.p4) * rng.gamma(16, 0.0008, size),
        "segmentComp": rng.beta(12, 2, size),
        "nStations": rng.integers(2, 5, size),
        "nTrackerLayers": rng.integers(8, 18, size),
        "looseId": rng.random(size) < 0.995,
        "mediumId": rng.random(size) < np.where(found.prompt, 0.985, 0.7),
        "tightId": rng.random(size) < np.where(found.prompt, 0.965, 0.4),
        "isGlobal": rng.random(size) < 0.97,
        "isPFcand": rng.random(size) < 0.99,
        "mvaTTH": 2 * rng.beta(np.where(found.prompt, 9, 1), 1) - 1,
        "pdgId": found.pdg,
    }
    columns["pfRelIso04_all"] = columns["pfRelIso03_all"] * rng.uniform(1.0, 1.5, size)
    return collection(found.event, columns, n)


def detect_electrons(truth: Particles, n: int, rng: np.random.Generator) -> ak.Array:
    found = select(truth, (ELECTRON,), 5.0, 2.5, 0.90, rng)
    size = len(found)
    flipped = np.where(rng.random(size) < 0.005, -1, 1)
    columns = {
        **kinematics(found, 0.02, LEPTON_MASS[ELECTRON], rng),
        "charge": -np.sign(found.pdg) * flipped,
        **impact(found.prompt, rng),
        "deltaEtaSC": rng.normal(0, 0.03, size),
        "eInvMinusPInv": rng.normal(0, 0.02, size),
        "hoe": rng.exponential(0.02, size),
        "r9": rng.beta(14, 1.5, size),
        "sieie": rng.normal(0.011, 0.003, size),
        "mvaIso": 2 * rng.beta(8, 1.2, size) - 1,
        "mvaIso_WP80": rng.random(size) < 0.80,
        "mvaIso_WP90": rng.random(size) < 0.90,
        "cutBased": rng.choice(5, size, p=[0.04, 0.04, 0.06, 0.1, 0.76]),
        "lostHits": rng.poisson(0.1, size).astype(np.uint8),
        "convVeto": rng.random(size) < 0.97,
        "pdgId": found.pdg,
    }
    return collection(found.event, columns, n)


def detect_jets(truth: Particles, n: int, rng: np.random.Generator) -> ak.Array:
    """Everything that leaves energy is also a jet, leptons included, as in NanoAOD."""
    found = select(truth, JET_LIKE, 14.0, 4.7, 0.98, rng)
    found = found[found.prompt | (np.abs(found.pdg) != MUON)]
    size = len(found)
    flavour = np.abs(found.pdg)
    is_b = flavour == BOTTOM
    energy = rng.dirichlet([6.0, 2.0, 2.5], size)
    columns = {
        **kinematics(found, 0.10, pt_of(found.p4) * rng.beta(3, 18, size), rng),
        "area": rng.normal(0.5, 0.03, size),
        "rawFactor": rng.normal(0.06, 0.03, size),
        "btagDeepFlavB": rng.beta(np.where(is_b, 3.0, 0.35), np.where(is_b, 0.6, 5.0)),
        "btagDeepFlavCvB": rng.beta(np.where(is_b, 1.0, 4.0), 1.5),
        "btagDeepFlavCvL": rng.beta(np.where(is_b, 2.0, 1.0), 3.0),
        "btagDeepFlavQG": rng.beta(1 + (flavour == LIGHT), 1 + (flavour == GLUON)),
        "btagPNetB": rng.beta(np.where(is_b, 3.5, 0.3), np.where(is_b, 0.5, 5.0)),
        "chHEF": energy[:, 0],
        "neHEF": energy[:, 1],
        "chEmEF": energy[:, 2] * 0.2,
        "neEmEF": energy[:, 2] * 0.8,
        "muEF": np.where(flavour == MUON, 0.9, 0.0),
        "muonSubtrFactor": np.where(flavour == MUON, 0.9, 0.0),
        "jetId": np.where(rng.random(size) < 0.985, 6, 0),
        "puId": np.where(found.prompt, 7, rng.choice([0, 4, 7], size)),
        "puIdDisc": 2 * rng.beta(np.where(found.prompt, 8, 1), 1) - 1,
        "nConstituents": rng.poisson(np.where(flavour == GLUON, 32, 22)).astype(np.uint8),
        "nMuons": np.where(flavour == MUON, 1, 0),
        "nElectrons": np.where(flavour == ELECTRON, 1, 0),
        "hadronFlavour": np.where(is_b, 5, 0),
        "partonFlavour": np.where(np.isin(flavour, (ELECTRON, MUON, TAU)), 0, found.pdg),
    }
    return collection(found.event, columns, n)


def missing_energy(truth: Particles, n: int, rng: np.random.Generator) -> Columns:
    neutrinos = truth[np.abs(truth.pdg) == NEUTRINO]
    x = np.bincount(neutrinos.event, neutrinos.p4[:, 1], n)
    y = np.bincount(neutrinos.event, neutrinos.p4[:, 2], n)
    sum_et = np.bincount(truth.event, pt_of(truth.p4), n) + rng.gamma(20, 45.0, n)
    columns = {"GenMET_pt": packed(np.hypot(x, y)), "GenMET_phi": packed(np.arctan2(y, x))}
    for name, resolution in (("MET", 0.60), ("PuppiMET", 0.45), ("RawMET", 0.70)):
        width = resolution * np.sqrt(sum_et)
        seen_x, seen_y = x + rng.normal(0, width), y + rng.normal(0, width)
        columns[f"{name}_pt"] = packed(np.hypot(seen_x, seen_y))
        columns[f"{name}_phi"] = packed(np.arctan2(seen_y, seen_x))
        columns[f"{name}_sumEt"] = packed(sum_et)
    columns["MET_significance"] = packed(columns["MET_pt"] ** 2 / (0.36 * sum_et))
    return columns


def triggers(
    muons: ak.Array, electrons: ak.Array, jets: ak.Array, rng: np.random.Generator
) -> Columns:
    n = len(muons)
    muon, electron = leading(muons, 0), leading(electrons, 0)
    second_muon, second_electron = leading(muons, 1), leading(electrons, 1)
    jet_sum = ak.to_numpy(ak.sum(jets.pt, axis=1))

    def path(passes: Bools, plateau: float) -> Bools:
        return passes & (rng.random(n) < plateau)

    return {
        "HLT_IsoMu24": path(muon > 24, 0.92),
        "HLT_IsoMu27": path(muon > 27, 0.92),
        "HLT_Mu50": path(muon > 50, 0.94),
        "HLT_Mu17_TrkIsoVVL_Mu8_TrkIsoVVL_DZ_Mass3p8": path((muon > 17) & (second_muon > 8), 0.93),
        "HLT_Ele32_WPTight_Gsf": path(electron > 32, 0.88),
        "HLT_Ele35_WPTight_Gsf": path(electron > 35, 0.88),
        "HLT_Ele23_Ele12_CaloIdL_TrackIdL_IsoVL": path(
            (electron > 23) & (second_electron > 12), 0.90
        ),
        "HLT_Mu23_TrkIsoVVL_Ele12_CaloIdL_TrackIdL_IsoVL": path((muon > 23) & (electron > 12), 0.9),
        "HLT_PFHT1050": path(jet_sum > 1050, 0.97),
        "HLT_PFJet500": path(leading(jets, 0) > 500, 0.98),
        "HLT_PFMET120_PFMHT120_IDTight": rng.random(n) < 0.004,
        "HLT_ZeroBias": rng.random(n) < 0.0005,
    }


def event_columns(n: int, negative_weights: float, rng: np.random.Generator) -> Columns:
    vertices = np.maximum(rng.poisson(32, n), 1).astype(np.int32)
    weight = np.where(rng.random(n) < negative_weights, -1.0, 1.0).astype(np.float32)
    columns: Columns = {
        "genWeight": weight,
        "Generator_weight": weight,
        "LHEWeight_originalXWGTUP": weight * np.float32(61.5),
        "Generator_x1": packed(10 ** rng.uniform(-3.5, -0.3, n)),
        "Generator_x2": packed(10 ** rng.uniform(-3.5, -0.3, n)),
        "Generator_scalePDF": packed(rng.gamma(9, 12.0, n)),
        "Pileup_nTrueInt": rng.gamma(16, 2.1, n).astype(np.float32),
        "Pileup_nPU": rng.poisson(34, n).astype(np.int32),
        "PV_npvs": vertices,
        "PV_npvsGood": (vertices * 0.8).astype(np.int32),
        "PV_x": packed(rng.normal(0.1, 0.001, n)),
        "PV_y": packed(rng.normal(-0.06, 0.001, n)),
        "PV_z": packed(rng.normal(0, 3.6, n)),
        "PV_chi2": packed(rng.gamma(40, 0.025, n)),
        "PV_ndof": packed(rng.gamma(6, 25.0, n)),
        "PV_score": packed(rng.gamma(2, 4e3, n)),
        "fixedGridRhoFastjetAll": packed(rng.gamma(12, 1.8, n)),
        "L1PreFiringWeight_Nom": packed(rng.beta(120, 1, n)),
        "L1PreFiringWeight_Up": packed(rng.beta(150, 1, n)),
        "L1PreFiringWeight_Dn": packed(rng.beta(90, 1, n)),
        "LHEScaleWeight": fixed_size(1 + rng.normal(0, 0.09, (n, 9))),
        "LHEPdfWeight": fixed_size(1 + rng.normal(0, 0.02, (n, 33))),
        "PSWeight": fixed_size(1 + rng.normal(0, 0.06, (n, 4))),
    }
    for name in NOISE_FILTERS:
        columns[f"Flag_{name}"] = rng.random(n) < 0.998
    return columns


def packed(values: Floats, bits: int = 10) -> NDArray[np.float32]:
    """Round to float32 with that many mantissa bits, as NanoAOD does to make files small."""
    drop = 23 - bits
    raw = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = (raw + np.uint32(1 << (drop - 1))) & np.uint32(0xFFFFFFFF << drop & 0xFFFFFFFF)
    return rounded.view(np.float32)


def collection(event: Ints, columns: Columns, n: int) -> ak.Array:
    """Order rows by event and falling pt and cut them into one list per event."""
    order = np.lexsort((-columns["pt"], event))
    stored = {name: narrowed(values[order]) for name, values in columns.items()}
    return ak.unflatten(ak.zip(stored), np.bincount(event, minlength=n))


def narrowed(values: NDArray[Any]) -> NDArray[Any]:
    """A column in the type that NanoAOD gives it: packed float, 32-bit integer, or as it is."""
    if values.dtype.kind == "f":
        return packed(values)
    return values.astype(np.int32) if values.dtype == np.int64 else values


def fixed_size(table: Floats) -> ak.Array:
    n, width = table.shape
    return ak.unflatten(packed(table.ravel()), np.full(n, width))


def leading(objects: ak.Array, rank: int) -> Floats:
    """The pt of the object of that rank in each event, 0 where there is none."""
    padded = ak.pad_none(objects.pt, rank + 1, axis=1)[:, rank]
    return np.asarray(ak.to_numpy(ak.fill_none(padded, 0.0)))
