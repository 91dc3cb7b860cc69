"""The page How it works: one module a screen."""

from ui.how.cost import divide_the_matrix
from ui.how.gaussian_process import a_gaussian_process
from ui.how.kernels import two_kernels
from ui.how.learning import learning
from ui.how.style import many_views_one_style

SCREENS = {
    1: ("Two kernels", two_kernels),
    2: ("Divide the matrix", divide_the_matrix),
    3: ("A Gaussian process", a_gaussian_process),
    4: ("Many views, one style", many_views_one_style),
    5: ("Learning", learning),
}

__all__ = ["SCREENS"]
