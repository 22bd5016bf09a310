"""Toy collisions: Drell-Yan and top pairs, down to what flies into the detector.

Each process is generated along its decay chain, so that masses and angles come out as in
nature: Z -> ll is a Breit-Wigner over a falling continuum, t -> bW and W -> lv or qq' are
two-body decays in their rest frames. Momenta are arrays of shape (n, 4) in the order E, px,
py, pz; GeV throughout.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

Z_MASS, Z_WIDTH = 91.1876, 2.4952
W_MASS, W_WIDTH = 80.377, 2.085
TOP_MASS, TOP_WIDTH = 172.5, 1.42
B_MASS = 4.18
LEPTON_MASS = {11: 0.000511, 13: 0.105658, 15: 1.77686}

ELECTRON, MUON, TAU, NEUTRINO = 11, 13, 15, 12
LIGHT, BOTTOM, GLUON, PILEUP = 1, 5, 21, 0


@dataclass(frozen=True)
class Particles:
    """Particles of many events, one row each; `pdg` is signed as the Particle Data Group has it."""

    event: Ints
    pdg: Ints
    p4: Floats
    prompt: Bools

    def __len__(self) -> int:
        return len(self.event)

    def __getitem__(self, rows: Bools) -> Particles:
        return Particles(self.event[rows], self.pdg[rows], self.p4[rows], self.prompt[rows])


def concatenate(parts: list[Particles]) -> Particles:
    return Particles(
        np.concatenate([part.event for part in parts]),
        np.concatenate([part.pdg for part in parts]),
        np.concatenate([part.p4 for part in parts]),
        np.concatenate([part.prompt for part in parts]),
    )


def particles(event: Ints, pdg: Ints | int, p4: Floats, prompt: bool = True) -> Particles:
    n = len(event)
    return Particles(event, np.broadcast_to(np.asarray(pdg, np.int64), n), p4, np.full(n, prompt))


def momenta(pt: Floats, rapidity: Floats, phi: Floats, mass: Floats | float) -> Floats:
    transverse_mass = np.hypot(pt, mass)
    return np.stack(
        [
            transverse_mass * np.cosh(rapidity),
            pt * np.cos(phi),
            pt * np.sin(phi),
            transverse_mass * np.sinh(rapidity),
        ],
        axis=1,
    )


def mass_of(p4: Floats) -> Floats:
    squared: Floats = p4[:, 0] ** 2 - (p4[:, 1:] ** 2).sum(axis=1)
    return np.sqrt(np.maximum(squared, 0.0))


def pt_of(p4: Floats) -> Floats:
    return np.hypot(p4[:, 1], p4[:, 2])


def eta_of(p4: Floats) -> Floats:
    return np.arcsinh(p4[:, 3] / np.maximum(pt_of(p4), 1e-9))


def phi_of(p4: Floats) -> Floats:
    return np.arctan2(p4[:, 2], p4[:, 1])


def breit_wigner(
    mass: float, width: float, low: float, high: float, n: int, rng: np.random.Generator
) -> Floats:
    """Masses of a resonance between low and high, by inversion of the cumulative."""
    gamma = width / 2
    angle = rng.uniform(np.arctan((low - mass) / gamma), np.arctan((high - mass) / gamma), n)
    return mass + gamma * np.tan(angle)


def decay(
    parent: Floats, mass_a: Floats | float, mass_b: Floats | float, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Let each parent decay isotropically in its rest frame into two bodies of given masses."""
    n = len(parent)
    mass = mass_of(parent)
    energy_a = (mass**2 + np.square(mass_a) - np.square(mass_b)) / (2 * mass)
    momentum = np.sqrt(np.maximum(energy_a**2 - np.square(mass_a), 0.0))
    cosine, phi = rng.uniform(-1, 1, n), rng.uniform(-np.pi, np.pi, n)
    sine = np.sqrt(1 - cosine**2)
    direction = np.stack([sine * np.cos(phi), sine * np.sin(phi), cosine], axis=1)
    a = boost(energy_a, momentum[:, None] * direction, parent, mass)
    return a, parent - a


def boost(energy: Floats, momentum: Floats, frame: Floats, mass: Floats) -> Floats:
    """Carry a momentum from the rest frame of `frame` (of that mass) into the laboratory."""
    along = (frame[:, 1:] * momentum).sum(axis=1)
    boosted_energy = (frame[:, 0] * energy + along) / mass
    factor = (energy + boosted_energy) / (frame[:, 0] + mass)
    return np.column_stack([boosted_energy, momentum + factor[:, None] * frame[:, 1:]])


def collide(process: str, n: int, rng: np.random.Generator) -> Particles:
    """The particles of n events of a process ("DYJets" or "TTbar"), with recoil and pile-up."""
    hard = PROCESSES[process](n, rng)
    everything = concatenate(
        [*decay_taus(hard, rng), initial_state_jets(n, rng), pileup_jets(n, rng)]
    )
    return concatenate([everything, heavy_flavour_muons(everything, rng)])


def drell_yan(n: int, rng: np.random.Generator) -> list[Particles]:
    """Z/gamma* -> ll, a third each of electrons, muons and taus."""
    peak = breit_wigner(Z_MASS, Z_WIDTH, 40, 400, n, rng)
    continuum = 1 / rng.uniform(1 / 400, 1 / 40, n)
    mass = np.where(rng.random(n) < 0.06, continuum, peak)
    boson = momenta(
        rng.gamma(1.3, 11.0, n), rng.normal(0, 1.6, n), rng.uniform(-np.pi, np.pi, n), mass
    )
    flavour = rng.choice([ELECTRON, MUON, TAU], n)
    lepton_mass = np.array([LEPTON_MASS[pdg] for pdg in (11, 13, 15)])[(flavour - 11) // 2]
    minus, plus = decay(boson, lepton_mass, lepton_mass, rng)
    event = np.arange(n)
    return [particles(event, flavour, minus), particles(event, -flavour, plus)]


def top_pairs(n: int, rng: np.random.Generator) -> list[Particles]:
    """Two tops, back to back but for some recoil; each W decays on its own."""
    pt, phi = rng.gamma(2.2, 55.0, n), rng.uniform(-np.pi, np.pi, n)
    rapidity = rng.normal(0, 1.0, n)
    recoil = rng.normal(0, 0.25, n)
    result = []
    for sign in (1, -1):
        mass = breit_wigner(TOP_MASS, TOP_WIDTH, 160, 185, n, rng)
        top = momenta(
            pt * rng.normal(1, 0.05, n),
            rapidity + rng.normal(0, 0.6, n),
            phi + (0 if sign > 0 else np.pi + recoil),
            mass,
        )
        w_boson, bottom = decay(top, breit_wigner(W_MASS, W_WIDTH, 65, 95, n, rng), B_MASS, rng)
        up, down = decay(w_boson, 0.0, 0.0, rng)
        event = np.arange(n)
        channel = rng.choice([LIGHT, ELECTRON, MUON, TAU], n, p=[0.674, 0.108, 0.109, 0.109])
        leptonic = channel != LIGHT
        result += [
            particles(event, BOTTOM * sign, bottom),
            particles(event, np.where(leptonic, -channel * sign, LIGHT), down),
            particles(event, np.where(leptonic, NEUTRINO * sign, LIGHT), up),
        ]
    return result


PROCESSES: dict[str, Callable[[int, np.random.Generator], list[Particles]]] = {
    "DYJets": drell_yan,
    "TTbar": top_pairs,
}


def decay_taus(parts: list[Particles], rng: np.random.Generator) -> list[Particles]:
    """Replace taus by a muon, an electron or a hadronic jet, and add the lost neutrinos."""
    everything = concatenate(parts)
    is_tau = np.abs(everything.pdg) == TAU
    taus = everything[is_tau]
    visible = rng.beta(2.0, 1.6, len(taus))[:, None]
    product = rng.choice([ELECTRON, MUON, TAU], len(taus), p=[0.178, 0.174, 0.648])
    return [
        everything[~is_tau],
        replace(taus, pdg=np.sign(taus.pdg) * product, p4=taus.p4 * visible),
        particles(taus.event, NEUTRINO, taus.p4 * (1 - visible)),
    ]


def scattered_jets(
    n: int, mean: float, pt_min: float, slope: float, eta_width: float, rng: np.random.Generator
) -> tuple[Ints, Floats]:
    event = np.repeat(np.arange(n), rng.poisson(mean, n))
    size = len(event)
    pt = pt_min * (1 + rng.pareto(slope, size))
    eta, phi = rng.normal(0, eta_width, size), rng.uniform(-np.pi, np.pi, size)
    return event, momenta(np.minimum(pt, 1500.0), eta, phi, 0.1 * pt)


def initial_state_jets(n: int, rng: np.random.Generator) -> Particles:
    event, p4 = scattered_jets(n, 1.3, 15.0, 1.9, 1.9, rng)
    return particles(event, rng.choice([LIGHT, BOTTOM, GLUON], len(event), p=[0.4, 0.04, 0.56]), p4)


def pileup_jets(n: int, rng: np.random.Generator) -> Particles:
    event, p4 = scattered_jets(n, 1.6, 12.0, 5.5, 2.4, rng)
    return particles(event, PILEUP, p4, prompt=False)


def heavy_flavour_muons(parts: Particles, rng: np.random.Generator) -> Particles:
    """Muons inside b jets: real, but neither prompt nor isolated."""
    mothers = parts[(np.abs(parts.pdg) == BOTTOM) & (rng.random(len(parts)) < 0.11)]
    fraction = rng.beta(1.5, 4.0, len(mothers))[:, None]
    charge = rng.choice([-1, 1], len(mothers))
    return particles(mothers.event, MUON * charge, mothers.p4 * fraction, prompt=False)
