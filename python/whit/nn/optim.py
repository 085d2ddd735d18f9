"""Optimizers: what `loss.backward(); optimizer.step()` does to the parameters."""
from __future__ import annotations

from whit import _core
from whit._core import Tensor


class LearningRate(float):
    """The learning rate, as a number and with the methods of a one-element tensor that schedules use."""

    def __new__(cls, value: float, optimizer: Optimizer) -> LearningRate:
        self = super().__new__(cls, value)
        self.optimizer = optimizer
        return self

    def assign(self, value) -> LearningRate:
        self.optimizer.lr = value
        return self.optimizer.lr

    def item(self) -> float:
        return float(self)

    def tolist(self) -> float:
        return float(self)

    def realize(self, *_) -> LearningRate:
        return self

    def numpy(self):
        import numpy
        return numpy.array([float(self)], dtype=numpy.float32)


class Optimizer:
    """What all optimizers share. The floats among the tensors it is given that don't have requires_grad False are its parameters,
    get requires_grad True and are realised; the others (running statistics) are only computed along with each step."""

    def __init__(self, core, params: list[Tensor]) -> None:
        self._core = core
        trained = [p for p in params if p.requires_grad]
        self.params, self.buffers = trained, [p for p in params if not p.requires_grad]
        self.device = trained[0].device

    @property
    def lr(self) -> LearningRate:
        """The learning rate; may be set between steps, no new code is made for that."""
        return LearningRate(self._core.learning_rate, self)

    @lr.setter
    def lr(self, value) -> None:
        self._core.learning_rate = value.item() if isinstance(value, Tensor) else float(value)

    def zero_grad(self) -> None:
        """Forgets the gradients."""
        self._core.zero_grad()

    def step(self, *also: Tensor) -> None:
        """Moves every parameter that has a gradient, in one plan together with the tensors in `also`."""
        self._core.step(list(also))

    def schedule_step(self) -> list[Tensor]:
        """As step, and gives the parameters: `loss.realize(*optimizer.schedule_step())`."""
        self._core.step([])
        return list(self.params)


class OptimizerGroup(Optimizer):
    """Several optimizers as one."""

    def __init__(self, *optimizers: Optimizer) -> None:
        self.optimizers = list(optimizers)
        self.params = [p for o in optimizers for p in o.params]
        self.buffers = [b for o in optimizers for b in o.buffers]
        self.device = optimizers[0].device

    def __getitem__(self, i: int) -> Optimizer:
        return self.optimizers[i]

    def zero_grad(self) -> None:
        for optimizer in self.optimizers: optimizer.zero_grad()

    def step(self, *also: Tensor) -> None:
        for optimizer in self.optimizers: optimizer.step(*also)

    def schedule_step(self) -> list[Tensor]:
        return [t for optimizer in self.optimizers for t in optimizer.schedule_step()]


class SGD(Optimizer):
    """Stochastic gradient descent, with momentum as PyTorch's."""

    def __init__(self, params: list[Tensor], lr: float = 0.001, momentum: float = 0.0, weight_decay: float = 0.0, nesterov: bool = False) -> None:
        params = list(params)
        super().__init__(_core.sgd(params, float(lr), momentum, weight_decay, nesterov), params)


class Adam(Optimizer):
    """Adam; weight decay is added to the gradient."""

    def __init__(self, params: list[Tensor], lr: float = 0.001, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8,
                 weight_decay: float = 0.0) -> None:
        params = list(params)
        super().__init__(_core.adam(params, float(lr), b1, b2, eps, weight_decay, False), params)


class AdamW(Optimizer):
    """Adam whose weight decay shrinks the parameters themselves."""

    def __init__(self, params: list[Tensor], lr: float = 0.001, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8,
                 weight_decay: float = 0.01) -> None:
        params = list(params)
        super().__init__(_core.adam(params, float(lr), b1, b2, eps, weight_decay, True), params)
