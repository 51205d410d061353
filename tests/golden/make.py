"""Records the trajectories that judge the CPU reference: PyTorch and optax in f64, from f32-exact inputs.

Usage: python3 make.py [OUTPUT_DIRECTORY]   (needs torch, optax, jax, numpy; no GPU)
"""

import functools
import itertools
import json
import os
import pathlib
import sys
import traceback

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["JAX_ENABLE_X64"] = "1"

import jax
import jax.numpy as jnp
import numpy as np
import optax
import torch

OUT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
STEPS = 300
CHECKPOINTS = (1, 2, 3, 10, 300)
TENSORS = (("b", 3), ("s", 1), ("w", 13))


def inputs():
    """Values exactly representable in f32: scales from 1e-4 to 10, changing signs.

    One coordinate and its gradient are 0 throughout; of weight decay alone, RMSprop would make a chaotic orbit there.
    """
    random = np.random.default_rng(20260701)
    params = {name: random.normal(size=n).astype(np.float32) for name, n in TENSORS}
    scales = {name: (10.0 ** random.uniform(-4, 1, size=n)).astype(np.float32) for name, n in TENSORS}
    params["w"][5] = 0
    grads = []
    for step in range(STEPS):
        one = {name: (random.normal(size=n) * scales[name]).astype(np.float32) for name, n in TENSORS}
        one["w"][5] = 0
        if step == 0:
            one["b"][:] = 0
        grads.append(one)
    return params, grads


PARAMS, GRADS = inputs()


def lists(tensors):
    return {name: [float(x) for x in np.asarray(values, dtype=np.float64)] for name, values in tensors.items()}


def cosine(schedule):
    """The judge of a schedule inside a trajectory."""
    c = schedule["cosine"]
    made = optax.warmup_cosine_decay_schedule(c.get("start", 0.0), c["peak"], c["warmup"], c["total"], c.get("floor", 0.0))
    return lambda step: float(made(jnp.asarray(step)))


# --- PyTorch ---------------------------------------------------------------------------------------------------------

NAMES = {
    "lr": "lr", "momentum": "momentum", "dampening": "dampening", "weightDecay": "weight_decay", "nesterov": "nesterov",
    "maximize": "maximize", "eps": "eps", "amsgrad": "amsgrad", "alpha": "alpha", "centered": "centered",
    "lrDecay": "lr_decay", "initialAccumulator": "initial_accumulator_value",
}
CLASSES = {
    "sgd": torch.optim.SGD, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW,
    "rmsprop": torch.optim.RMSprop, "adagrad": torch.optim.Adagrad,
}


def torch_options(config):
    options = {NAMES[key]: value for key, value in config.items() if key not in ("beta1", "beta2")}
    if "beta1" in config or "beta2" in config:
        options["betas"] = (config.get("beta1", 0.9), config.get("beta2", 0.999))
    return options


def torch_run(rule, case):
    tensors = {name: torch.nn.Parameter(torch.tensor(v, dtype=torch.float64)) for name, v in (PARAMS | case.get("params", {})).items()}
    grouped = [name for group in case.get("groups", []) for name in group["tensors"]]
    groups = [{"params": [tensors[name] for name in tensors if name not in grouped], **torch_options(case["config"])}]
    for group in case.get("groups", []):
        groups.append({"params": [tensors[name] for name in group["tensors"]], **torch_options(group["config"])})
    optimizer = CLASSES[rule](groups, foreach=False, **torch_options(case["config"]))
    schedule = cosine(case["schedule"]) if "schedule" in case else None

    def step(number, grads):
        for change in case.get("set", []):
            if change["step"] == number:
                optimizer.param_groups[0].update(torch_options(change["config"]))
        if schedule:
            for group in optimizer.param_groups:
                group["lr"] = schedule(number - 1)
        for name, tensor in tensors.items():
            missing = number in case.get("missing", {}).get(name, [])
            tensor.grad = None if missing else torch.tensor(grads[name], dtype=torch.float64)
        optimizer.step()

    def slots(name):
        state = optimizer.state[tensors[name]]
        return {slot: value.tolist() for slot, value in state.items() if slot != "step" and torch.is_tensor(value)}

    return step, lambda: {name: tensor.tolist() for name, tensor in tensors.items()}, slots


# --- optax -----------------------------------------------------------------------------------------------------------

def clipped_trust(low, high):
    """optax's trust ratio, held between two bounds; 1 when either norm is 0."""
    def update(updates, state, params):
        def scale(update, param):
            norm_p, norm_u = jnp.linalg.norm(param), jnp.linalg.norm(update)
            ratio = jnp.clip(norm_p / jnp.where(norm_u == 0, 1, norm_u), low, high)
            return update * jnp.where((norm_p == 0) | (norm_u == 0), 1.0, ratio)
        return jax.tree.map(scale, updates, params), state
    return optax.GradientTransformation(lambda params: optax.EmptyState(), update)


def lamb(config):
    """optax.lamb of one tensor, its learning rate left out."""
    moments = optax.scale_by_adam(config.get("beta1", 0.9), config.get("beta2", 0.999), config.get("eps", 1e-6))
    if config.get("exclude"):
        return moments
    clamp = config.get("trustClamp")
    trust = clipped_trust(*clamp) if clamp else optax.scale_by_trust_ratio()
    return optax.chain(moments, optax.add_decayed_weights(config.get("weightDecay", 0.0)), trust)


@functools.cache
def lamb_update(config):
    return jax.jit(lamb(json.loads(config)).update)


def lamb_agrees_with_optax_lamb():
    """The chain above must be optax's own lamb."""
    params, grads = jnp.asarray(PARAMS["w"], jnp.float64), jnp.asarray(GRADS[1]["w"], jnp.float64)
    whole, chain = optax.lamb(0.1, weight_decay=0.2), lamb({"weightDecay": 0.2})
    one = whole.update(grads, whole.init(params), params)[0]
    two = -0.1 * chain.update(grads, chain.init(params), params)[0]
    assert np.allclose(one, two, rtol=1e-14, atol=0), (one, two)


def lamb_run(_rule, case):
    params = {name: jnp.asarray(v, jnp.float64) for name, v in (PARAMS | {k: np.asarray(v) for k, v in case.get("params", {}).items()}).items()}
    configs = {name: case["config"] for name in params}
    for group in case.get("groups", []):
        configs |= {name: group["config"] for name in group["tensors"]}
    grouped = [name for group in case.get("groups", []) for name in group["tensors"]]
    states = {name: lamb(configs[name]).init(params[name]) for name in params}
    schedule = cosine(case["schedule"]) if "schedule" in case else None

    def step(number, grads):
        for change in case.get("set", []):
            if change["step"] == number:
                configs.update({name: change["config"] for name in params if name not in grouped})
        for name in params:
            if number in case.get("missing", {}).get(name, []):
                continue
            config = configs[name]
            grad = jnp.asarray(grads[name], jnp.float64) * (-1 if config.get("maximize") else 1)
            update, states[name] = lamb_update(json.dumps(config))(grad, states[name], params[name])
            lr = schedule(number - 1) if schedule else config["lr"]
            params[name] = params[name] - lr * update

    def slots(name):
        adam = states[name] if configs[name].get("exclude") else states[name][0]
        return {"exp_avg": adam.mu.tolist(), "exp_avg_sq": adam.nu.tolist()}

    return step, lambda: {name: value.tolist() for name, value in params.items()}, slots


# --- Cases -----------------------------------------------------------------------------------------------------------

# lr, then every option with a value that shows; weightDecay is in all cases but the first.
OPTIONS = {
    "sgd": (0.05, {"momentum": 0.9, "dampening": 0.5, "nesterov": True, "maximize": True}),
    "adam": (0.02, {"beta1": 0.8, "beta2": 0.99, "eps": 1e-2, "amsgrad": True, "maximize": True}),
    "adamw": (0.02, {"beta1": 0.8, "beta2": 0.99, "eps": 1e-2, "amsgrad": True, "maximize": True}),
    "rmsprop": (0.01, {"alpha": 0.9, "eps": 1e-2, "momentum": 0.8, "centered": True, "maximize": True}),
    "adagrad": (0.05, {"lrDecay": 0.1, "initialAccumulator": 0.5, "eps": 1e-2, "maximize": True}),
    "lamb": (0.02, {"beta1": 0.8, "beta2": 0.99, "eps": 1e-2, "trustClamp": [0.2, 0.8], "exclude": True, "maximize": True}),
}


def legal(rule, config):
    if rule != "sgd":
        return config
    if "nesterov" in config and "dampening" in config:
        return None
    if "nesterov" in config or "dampening" in config:
        config = {"momentum": 0.9} | config
    return config


def cases(rule):
    lr, options = OPTIONS[rule]
    decay = {"lr": lr, "weightDecay": 0.1}
    yield {"name": "defaults", "config": {"lr": lr}}
    yield {"name": "weightDecay", "config": decay}
    for count in (1, 2):
        for names in itertools.combinations(options, count):
            config = legal(rule, {name: options[name] for name in names})
            if config is not None:
                yield {"name": "+".join(("weightDecay", *names)), "config": decay | config}
    full = decay | ({"momentum": 0.9} if rule in ("sgd", "rmsprop") else {})
    other = full | {"lr": lr / 4, "weightDecay": 0.3}
    yield {"name": "groups", "config": full, "groups": [{"tensors": ["b"], "config": other}]}
    yield {"name": "missing gradients", "config": full, "missing": {"b": [2, 5], "s": [1], "w": [3, 4, 299]}}
    schedule = {"cosine": {"peak": lr, "warmup": 4, "total": 200, "floor": lr / 10}}
    yield {"name": "schedule", "config": full, "schedule": schedule}
    yield {"name": "set", "config": full, "set": [{"step": 4, "config": other}]}
    if rule == "lamb":
        yield {"name": "zero parameters", "config": full, "params": {"b": [0.0, 0.0, 0.0], "s": [0.0]}}
        yield {"name": "excluded group", "config": full, "groups": [{"tensors": ["b"], "config": full | {"exclude": True}}]}


def record(rule, case):
    step, params, slots = (lamb_run if rule == "lamb" else torch_run)(rule, case)
    checkpoints = {}
    for number, grads in enumerate(GRADS, 1):
        step(number, grads)
        if number in CHECKPOINTS:
            checkpoints[str(number)] = {"params": params(), "slots": {name: slots(name) for name in PARAMS}}
    return case | {"checkpoints": checkpoints}


# --- Clipping, skipping, loss scaling --------------------------------------------------------------------------------

# Steps at which one value of "w" is an infinity or NaN.
PLANTED = {4: "inf", 9: "nan", 50: "-inf", 51: "nan", 120: "inf"}


def clip(parameters, bound):
    kind, bound = next(iter(bound.items()))
    if kind == "globalNorm":
        torch.nn.utils.clip_grad_norm_(parameters, bound)
    elif kind == "tensorNorm":
        for parameter in parameters:
            torch.nn.utils.clip_grad_norm_([parameter], bound)
    else:
        torch.nn.utils.clip_grad_value_(parameters, bound)


def control_run(rule, config, control, planted):
    """Gradients of a loss multiplied by the scale, through torch.amp.GradScaler where there is one."""
    tensors = {name: torch.nn.Parameter(torch.tensor(v, dtype=torch.float64)) for name, v in PARAMS.items()}
    optimizer = CLASSES[rule](tensors.values(), foreach=False, **torch_options(config))
    dynamic = control.get("lossScale", {}).get("dynamic")
    scaler = dynamic and torch.amp.GradScaler(
        "cpu", init_scale=dynamic["init"], growth_factor=dynamic["growthFactor"],
        backoff_factor=dynamic["backoffFactor"], growth_interval=dynamic["growthInterval"])
    scales, checkpoints = [], {}
    for number, grads in enumerate(GRADS, 1):
        scale = scaler.get_scale() if scaler else 1.0
        for name, tensor in tensors.items():
            tensor.grad = torch.tensor(grads[name], dtype=torch.float64) * scale
        bad = planted and number in PLANTED
        if bad:
            tensors["w"].grad[2] = float(PLANTED[number])
        if scaler:
            # unscale_ looks for the scale that scale() makes.
            scaler.scale(torch.zeros(1))
            scaler.unscale_(optimizer)
        if "clip" in control and not bad:
            clip(list(tensors.values()), control["clip"])
        if scaler:
            scaler.step(optimizer)
            scaler.update()
            scales.append(scaler.get_scale())
        elif not bad:
            optimizer.step()
        if number in CHECKPOINTS:
            checkpoints[str(number)] = {name: tensor.tolist() for name, tensor in tensors.items()}
    return {"scales": scales, "checkpoints": checkpoints}


def control_cases():
    scaling = {"init": 1024.0, "growthFactor": 2.0, "backoffFactor": 0.5, "growthInterval": 20}
    configs = {"sgd": {"lr": 0.05, "momentum": 0.9, "weightDecay": 0.1}, "adamw": {"lr": 0.02, "weightDecay": 0.1}, "adagrad": {"lr": 0.05, "weightDecay": 0.1}}
    controls = [
        ({"clip": {"globalNorm": 1.0}}, False),
        ({"clip": {"tensorNorm": 0.5}}, False),
        ({"clip": {"value": 0.05}}, False),
        ({"nonfinite": "skip"}, True),
        ({"lossScale": {"dynamic": scaling}}, True),
        ({"lossScale": {"dynamic": scaling}, "clip": {"globalNorm": 1.0}}, True),
    ]
    for rule, config in configs.items():
        for control, planted in controls:
            yield {"rule": rule, "config": config, "control": control, "planted": PLANTED if planted else {}} | control_run(rule, config, control, planted)


def write(name, head, rows):
    body = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    (OUT / f"{name}.json").write_text("{" + ",".join(f'"{k}":{json.dumps(v)}' for k, v in head.items()) + ',"cases":[\n' + body + "\n]}\n")
    print(name, len(rows), "cases")


# --- Schedules -------------------------------------------------------------------------------------------------------

def from_torch(make, lr):
    """Learning rates that a PyTorch scheduler gives, step by step."""
    def values(last):
        optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1, dtype=torch.float64))], lr=lr)
        scheduler = make(optimizer)
        rates = []
        for _ in range(last + 1):
            rates.append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            scheduler.step()
        return rates
    return values


def from_optax(schedule):
    return lambda last: [float(schedule(jnp.asarray(step))) for step in range(last + 1)]


def transformer(peak, warmup):
    """Vaswani et al. 2017, equation 3, scaled to reach `peak` at the end of the warm-up."""
    return lambda last: [peak * min((t + 1) / warmup, (warmup / (t + 1)) ** 0.5) for t in range(last + 1)]


def schedule_cases():
    S = torch.optim.lr_scheduler
    rows = [
        ("constant", {"constant": {"lr": 0.3}}, from_optax(optax.constant_schedule(0.3)), 10),
        ("linear", {"linear": {"from": 0.1, "to": 0.9, "total": 12}}, from_optax(optax.linear_schedule(0.1, 0.9, 12)), 12),
        ("linear, torch", {"linear": {"from": 0.05, "to": 0.4, "total": 12}}, from_torch(lambda o: S.LinearLR(o, 0.125, 1.0, 12), 0.4), 12),
        ("step", {"step": {"lr": 0.4, "every": 5, "gamma": 0.3}}, from_torch(lambda o: S.StepLR(o, 5, 0.3), 0.4), 15),
        ("multistep", {"multistep": {"lr": 0.4, "at": [3, 10], "gamma": 0.5}}, from_torch(lambda o: S.MultiStepLR(o, [3, 10], 0.5), 0.4), 12),
        ("exponential", {"exponential": {"lr": 0.4, "gamma": 0.9}}, from_torch(lambda o: S.ExponentialLR(o, 0.9), 0.4), 12),
        ("cosine", {"cosine": {"peak": 0.4, "total": 12, "floor": 0.1}}, from_optax(optax.cosine_decay_schedule(0.4, 12, 0.25)), 12),
        ("cosine with warm-up", {"cosine": {"peak": 0.4, "warmup": 4, "total": 20, "start": 0.1, "floor": 0.05}}, from_optax(optax.warmup_cosine_decay_schedule(0.1, 0.4, 4, 20, 0.05)), 20),
        ("cosineRestarts", {"cosineRestarts": {"peak": 0.4, "period": 10, "floor": 0.05}}, from_torch(lambda o: S.CosineAnnealingWarmRestarts(o, 10, 1, 0.05), 0.4), 10),
        ("cosineRestarts, doubling", {"cosineRestarts": {"peak": 0.4, "period": 4, "mult": 2}}, from_torch(lambda o: S.CosineAnnealingWarmRestarts(o, 4, 2), 0.4), 12),
        ("polynomial", {"polynomial": {"lr": 0.4, "total": 12, "power": 2.0}}, from_torch(lambda o: S.PolynomialLR(o, 12, 2.0), 0.4), 12),
        ("polynomial to a floor", {"polynomial": {"lr": 0.4, "to": 0.1, "total": 12, "power": 3.0}}, from_optax(optax.polynomial_schedule(0.4, 0.1, 3.0, 12)), 12),
        ("inverseSqrt", {"inverseSqrt": {"peak": 0.4, "warmup": 6}}, transformer(0.4, 6), 12),
        ("sequential", {"sequential": {"schedules": [{"linear": {"from": 0.0, "to": 0.4, "total": 5}}, {"exponential": {"lr": 0.4, "gamma": 0.8}}], "boundaries": [5]}},
         from_optax(optax.join_schedules([optax.linear_schedule(0.0, 0.4, 5), optax.exponential_decay(0.4, 1, 0.8)], [5])), 10),
    ]
    for name, schedule, values, total in rows:
        last = 10 * total
        every = values(last)
        at = sorted({0, 1, 2, 3, 5, 9, 10, 11, total - 1, total, total + 1, 2 * total, last})
        yield {"name": name, "schedule": schedule, "values": {str(t): every[t] for t in at}}
    # Up to its end only: past it, PyTorch's goes up again.
    cosine = from_torch(lambda o: S.CosineAnnealingLR(o, 12, 0.05), 0.4)(12)
    yield {"name": "cosine, torch", "schedule": {"cosine": {"peak": 0.4, "total": 12, "floor": 0.05}}, "values": {str(t): r for t, r in enumerate(cosine)}}
    one_cycle = {"peak": 0.4, "total": 20}
    for extra, options in (({}, {}), ({"linear": True}, {"anneal_strategy": "linear"}), ({"threePhase": True}, {"three_phase": True}),
                           ({"pctStart": 0.5, "divFactor": 10.0, "finalDivFactor": 100.0}, {"pct_start": 0.5, "div_factor": 10, "final_div_factor": 100}),
                           ({"pctStart": 0.03}, {"pct_start": 0.03})):
        make = lambda o: S.OneCycleLR(o, 0.4, total_steps=20, cycle_momentum=False, **options)
        optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1, dtype=torch.float64))], lr=1.0)
        scheduler, rates = make(optimizer), []
        for step in range(20):
            rates.append(optimizer.param_groups[0]["lr"])
            if step < 19:
                optimizer.step()
                scheduler.step()
        yield {"name": "oneCycle " + " ".join(extra), "schedule": {"oneCycle": one_cycle | extra}, "values": {str(t): r for t, r in enumerate(rates)}}


def plateau_cases():
    varied = [1.0, 0.9, 0.95, 0.94, 0.91, 0.92, 0.93, 0.8, 0.7999, 0.9, 0.85, 0.81, 0.82, 0.83, 0.84, 0.5, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6]
    diverged = ["inf", "nan", 5.0, 4.0, 3.0, "inf", "nan", 2.0, 2.0, 2.0, 2.0]
    for extra, options, metrics in (
        ({}, {}, varied + [0.6] * 12),
        ({"patience": 2}, {"patience": 2}, varied),
        ({"patience": 1, "factor": 0.5, "cooldown": 2}, {"patience": 1, "factor": 0.5, "cooldown": 2}, varied),
        ({"patience": 1, "relative": False, "threshold": 0.05}, {"patience": 1, "threshold_mode": "abs", "threshold": 0.05}, varied),
        ({"patience": 1, "max": True, "minLr": 0.01}, {"patience": 1, "mode": "max", "min_lr": 0.01}, varied),
        ({"patience": 1, "eps": 0.05}, {"patience": 1, "eps": 0.05}, varied),
        ({"patience": 1}, {"patience": 1}, diverged),
        ({"patience": 1, "max": True}, {"patience": 1, "mode": "max"}, ["-inf", -3.0, -2.0, -2.0, -2.0, -1.0, -1.0]),
        ({"patience": 1, "threshold": 0.1}, {"patience": 1, "threshold": 0.1}, [-1.0, -0.95, -0.9, -1.2, -1.0, -1.0, -1.0]),
    ):
        optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1, dtype=torch.float64))], lr=0.4)
        scheduler, lrs = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **options), []
        for metric in metrics:
            scheduler.step(float(metric))
            lrs.append(optimizer.param_groups[0]["lr"])
        yield {"config": {"lr": 0.4} | extra, "metrics": metrics, "lrs": lrs}


def main():
    lamb_agrees_with_optax_lamb()
    (OUT / "inputs.json").write_text(json.dumps({"tensors": TENSORS, "params": lists(PARAMS), "grads": [lists(g) for g in GRADS]}, separators=(",", ":")) + "\n")
    versions = {"torch": f"torch {torch.__version__.split('+')[0]}", "optax": f"optax {optax.__version__}, jax {jax.__version__}"}
    failed = False
    for rule in OPTIONS:
        try:
            head = {"source": versions["optax" if rule == "lamb" else "torch"], "rule": rule}
            write(rule, head, [record(rule, case) for case in cases(rule)])
        except Exception:
            traceback.print_exc()
            failed = True
    try:
        write("control", {"source": versions["torch"]}, list(control_cases()))
    except Exception:
        traceback.print_exc()
        failed = True
    try:
        head = {"source": ", ".join(versions.values()), "plateau": list(plateau_cases())}
        write("schedules", head, list(schedule_cases()))
    except Exception:
        traceback.print_exc()
        failed = True
    sys.exit(failed)


if __name__ == "__main__":
    main()
