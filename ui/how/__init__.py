"""The page How it works, in six screens."""

from ui.how.gaussian_process import a_gaussian_process
from ui.how.kernels import divide_the_matrix, two_kernels
from ui.how.learning import learning
from ui.how.model import the_model
from ui.how.style import many_views_one_style

SCREENS = {
    "1": ("What it does", the_model),
    "2": ("A Gaussian process", a_gaussian_process),
    "3": ("Two kernels", two_kernels),
    "4": ("Divide the matrix", divide_the_matrix),
    "5": ("Many views, one style", many_views_one_style),
    "6": ("Learning", learning),
}

__all__ = ["SCREENS", "a_gaussian_process"]
