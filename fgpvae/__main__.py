"""The command line: python -m fgpvae COMMAND."""

import argparse
import json
import os
import signal
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import torch
from tqdm import tqdm

from fgpvae import data, files, runs
from fgpvae.browser import site, strip
from fgpvae.data.collections import COLLECTIONS
from fgpvae.errors import UserError, require
from fgpvae.evaluation import cards, comparison, protocol
from fgpvae.evaluation.film_scores import film_scores
from fgpvae.experiments import EXPERIMENTS, MODELS, Experiment, report
from fgpvae.experiments.bench import bench
from fgpvae.gp.kernels import KERNELS
from fgpvae.runs import queue, writer
from fgpvae.runs.checkpoints import config_of, load_config, load_objects, load_pretrained
from fgpvae.training import distributed, presets
from fgpvae.training.configs import CUBES, FILMS, OBJECTS, RunConfig

OTHERS = 100  # digits of each class in a model card
Action = Callable[[argparse.Namespace], dict[str, Any] | None]
Add = Callable[[str, Action, str, str], Callable[..., Any]]  # name, action, summary, example


def train(options: argparse.Namespace) -> dict[str, Any] | None:
    """Train in this process, or as one of several workers started by torchrun."""
    device = distributed.choose_device(options.device)
    with distributed.join(device) as workers:
        if workers.rank == 0:
            return _train(options, workers, device)
        training = writer.assist(options.run_dir, workers, device)
        with _signals() as received:
            _follow(training, tqdm(disable=True), received, workers)
        return None


def _train(
    options: argparse.Namespace, workers: distributed.Workers, device: torch.device
) -> dict[str, Any]:
    directory = options.run_dir
    if options.resume:
        given = (options.preset, options.set, options.data, options.classes)
        same = not any((*given, options.kernel, options.period)) and options.seed is None
        require(same, "A run that is resumed keeps its settings; only --epochs may change.")
        config, objects, epochs = None, None, options.epochs
        total = epochs or load_config(directory).training.epochs
    else:
        (config, objects), epochs = _config(options), None
        total = config.training.epochs
    training = writer.execute(directory, config, epochs, options.lock, workers, device, objects)
    bar = tqdm(total=total, unit="epoch", disable=_quiet(options))
    with _signals() as received:
        try:
            _follow(training, bar, received, workers)
        finally:
            if options.lock is not None and not received:
                queue.advance_queue(directory.parent)
    summary = runs.open_run(directory).summary()
    told = {"run": str(directory), "state": summary["state"], **(summary["last"] or {})}
    return told | (summary["findings"] or {})


def _config(options: argparse.Namespace) -> tuple[RunConfig, data.objects.Objects | None]:
    """The config of a new run, and its own objects if it has any."""
    top = {} if options.seed is None else {"seed": options.seed}
    epochs = [] if options.epochs is None else [f"training.epochs={options.epochs}"]
    settings, source = [*options.set, *epochs], options.data
    if options.preset == OBJECTS:
        require(source, "The preset objects needs --data: a NumPy archive or a folder of images.")
        require(not options.classes, "--classes chooses digits; own objects are all learned.")
        objects = data.object_files.load(source)
        base = presets.for_objects(objects, Path(source).name, options.period, options.kernel)
        return presets.changed(base, settings, **top), objects
    plain = not (options.period or options.kernel)
    require(plain, "--period and --kernel belong to --preset objects.")
    changes = []
    if source:  # MNIST's digits are rotated to new angles in every batch
        require(
            source == "openml" or Path(source).is_dir(),
            f"'{source}' is not a directory of MNIST's files; own objects belong to "
            "--preset objects.",
        )
        changes = ["data.split=continuous", f"data.source={json.dumps(source)}", "data.views=16"]
    if options.classes:
        classes = ",".join("0123456789") if options.classes == "all" else options.classes
        changes.append(f"data.classes=[{classes}]")
    name = options.preset or ("best" if source else "quick")
    return presets.preset(name, [*changes, *settings], **top), None


def _follow(
    training: Generator[writer.Progress, None, None],
    bar: Any,
    received: list[int],
    workers: distributed.Workers,
) -> None:
    with closing(training), bar:
        for step, line in training:
            bar.n = round(step.epoch, 2)
            if line:
                bar.set_postfix_str(f"mse {line['mse']:.4f}, kl {line['kl']:.1f}", refresh=False)
            bar.update(0)
            if received and workers.count == 1:
                raise KeyboardInterrupt
            workers.leaving |= bool(received)  # all workers stop after the same step
    if workers.stopping and received and workers.rank == 0:
        raise KeyboardInterrupt


@contextmanager
def _signals() -> Iterator[list[int]]:
    """Note the first SIGINT or SIGTERM, to stop between two steps; a second one ends it at once."""
    received: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        received.append(number)
        signal.signal(number, signal.SIG_DFL)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def evaluate(options: argparse.Namespace) -> dict[str, Any]:
    results = {name: _scores(name, _quiet(options)) for name in options.models}
    return results[options.models[0]] if len(results) == 1 else results


def _scores(name: str, quiet: bool) -> dict[str, Any]:
    """Score a model by the protocol of the collection that it was trained on."""
    model, config = load_pretrained(name), config_of(name)
    split = config.data.split
    with tqdm(total=1.0, desc=name, disable=quiet) as bar:

        def progress(done: float) -> None:
            bar.n = done
            bar.refresh()

        if split == CUBES:
            return protocol.evaluate_cubes(model, progress)
        if split == FILMS:
            return film_scores(model, progress=progress)
        if split == OBJECTS:
            own = load_objects(Path(name))
            return protocol.evaluate_objects(model, own, config.data, config.seed, progress)
        if split in COLLECTIONS:
            found = COLLECTIONS[split]()
            errors = comparison.subject_mse_by_views(model, found, progress=progress)
            return {"split": split, "mse_by_views": errors}
        return protocol.evaluate(model, config.data, config.seed, progress)


def list_runs(options: argparse.Namespace) -> dict[str, Any]:
    found, broken = runs.list_runs(options.root)
    return {"runs": [run.summary() for run in found], "unreadable": broken}


def run_experiment(options: argparse.Namespace) -> dict[str, Any]:
    with tqdm(disable=_quiet(options), bar_format="{desc} ({elapsed})") as bar:
        experiment = Experiment(
            seeds=options.seeds,
            runs=options.runs,
            results=options.results,
            models=tuple(options.models.split(",")) if options.models else MODELS,
            changes=tuple(options.set),
            progress=bar.set_description_str,
        )
        report.prepare(experiment.results)
        result = EXPERIMENTS[options.name](experiment)
        report.write(result, experiment.results)
    return result


def card(options: argparse.Namespace) -> dict[str, Any]:
    model, config = load_pretrained(options.model), config_of(options.model)
    others = None
    if options.data:
        file = data.load_idx(options.data, train=False)
        others = data.mnist.other_than_unseen(file, config.data.classes, OTHERS)
    measured = cards.measure(model, config, others)
    if options.out:
        files.write(options.out, cards.page(options.model, model, config, measured).encode())
    return measured


def run_bench(options: argparse.Namespace) -> dict[str, Any]:
    with tqdm(disable=_quiet(options), bar_format="{desc}") as bar:
        return bench(bar.set_description_str)


def _quiet(options: argparse.Namespace) -> bool:
    return options.json or not sys.stderr.isatty()


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message}; see {self.prog} --help.")


def parser() -> argparse.ArgumentParser:
    top = _Parser(
        prog="fgpvae",
        description="Factorized Gaussian process variational autoencoders.",
        epilog="example: python -m fgpvae train --preset quick --run-dir runs/my-run",
    )
    commands = top.add_subparsers(metavar="COMMAND", required=True)

    def add(name: str, action: Action, summary: str, example: str) -> Callable[..., Any]:
        """Add a command; returns the function that adds its options."""
        epilog = f"example: python -m fgpvae {name} {example}"
        command = commands.add_parser(name, help=summary, description=summary, epilog=epilog)
        command.set_defaults(action=action)
        command.add_argument("--json", action="store_true", help="print one JSON object, no more")
        return command.add_argument

    option = add("train", train, "Train a model.", "--preset quick --run-dir runs/my-run")
    option("--preset", help=f"{', '.join(presets.PRESETS)} (default: quick)")
    option("--period", type=float, default=0.0, help="of own views; none on a line")
    option("--kernel", help=f"over own views: {', '.join(KERNELS)}")
    option("--run-dir", type=Path, required=True, help="directory of the run")
    option("--seed", type=int, help="the same seed gives the same weights")
    option("--epochs", type=int, help="instead of the preset's")
    option(
        "--data",
        metavar="DIR|openml|OBJECTS",
        help="MNIST's IDX files instead of the embedded digits, 16 new views of each digit in "
        "every epoch (the default preset is then best); with --preset objects own objects: an "
        "archive (.npz) or a folder of images",
    )
    option("--classes", metavar="all|3,8,...", help="which digits")
    option("--device", default="auto", help="auto (default), cpu, cuda or mps")
    option("--set", action="append", default=[], metavar="NAME=VALUE", help="e.g. model.latents=24")
    option("--resume", action="store_true", help="resume the run in --run-dir")
    option("--lock", type=int, help=argparse.SUPPRESS)  # of the parent process
    option = add("runs", list_runs, "List the runs in a directory.", "--root runs")
    option("--root", type=Path, default=queue.root(), help="default: %(default)s")
    _add_others(add)
    return top


def _add_others(add: Add) -> None:
    summary = "Score models by the benchmark."
    option = add("evaluate", evaluate, summary, "paper runs/my-run --json")
    option("models", nargs="+", help="shipped models, run directories or their zips")
    option = add(
        "rotate",
        lambda o: strip.rotate(o.picture, o.model, o.angle, o.to, o.out),
        "Turn the digit in a picture or a figure of cubes, or play a film.",
        "three.png --angle 0 --to 0,45,90 --out strip.png",
    )
    option(
        "picture",
        help="any picture of one digit; for a model of cubes moves: 'x3 y2 -z2 x2'; for a model of "
        "films the number of one",
    )
    option("--model", default="best")
    option(
        "--angle",
        help="of the picture in degrees, inferred if not given; of cubes and films the views or "
        "frames that the model is given, comma-separated",
    )
    option("--to", default="all", help="degrees or frames, comma-separated, or all")
    option("--out", type=Path, required=True, help="a .gif that turns, or a picture of a strip")
    summary = "Write the laboratory as one HTML file."
    option = add("site", lambda o: site.build(o.out, o.app), summary, "--out site")
    option("--out", type=Path, required=True, help="a directory")
    option("--app", default=site.APP, help="address that it links to as the app")
    summary = "Reproduce a table or figure of the paper."
    option = add("experiment", run_experiment, summary, "table1 --seeds 5 --json")
    option("name", choices=EXPERIMENTS)
    option("--seeds", type=int, default=5)
    option("--models", help="presets, comma-separated; table1: also NAME-equal")
    option("--runs", type=Path, default="runs/experiments", help="finished runs are reused")
    option("--results", type=Path, default="results")
    option("--set", action="append", default=[], metavar="NAME=VALUE")
    option = add("card", card, "Measure a model for its card.", "best --out docs/models/best.md")
    option("model")
    option("--out", type=Path, help="a Markdown file")
    option("--data", help="a directory of MNIST's files, for digits not shown before")
    add("bench", run_bench, "Measure speed on this machine.", "--json")


def main(arguments: Sequence[str] | None = None) -> int:
    try:
        options = parser().parse_args(arguments)
        result = options.action(options)
    except UserError as error:
        print("fgpvae:", " ".join(str(error).split()), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("fgpvae: interrupted; the last checkpoint is kept", file=sys.stderr)
        return 130
    if result is not None:
        try:
            print(json.dumps(result, indent=None if options.json else 2), flush=True)
        except BrokenPipeError:  # the reader closed the pipe, as `head` does
            sys.stdout = open(os.devnull, "w")  # noqa: SIM115  # or Python tries again at its end
    return 0


if __name__ == "__main__":
    sys.exit(main())
